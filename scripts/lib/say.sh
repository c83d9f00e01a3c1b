# shellcheck shell=bash
# Messages of the scripts, on stderr: stdout is for results.

say() { printf '%s\n' "$*" >&2; }

step() { printf '• %s\n' "$*" >&2; }

# Print a problem and its remedies, one line each. Exit status 3: this machine lacks something.
give_up() {
    printf 'error: %s\n' "$1" >&2
    shift
    (($#)) && printf '  %s\n' "$@" >&2
    exit 3
}

# Run a command with its output in a file. If it fails, print the end of the file. Others may write one of the same name.
quietly() {
    local log=$1 own status=0
    own=$(mktemp "$log.XXXXXX")
    shift
    "$@" >"$own" 2>&1 </dev/null || status=1
    if ((status)); then
        say "error: this failed: $*"
        tail -n 25 "$own" >&2
    fi
    mv "$own" "$log"
    return "$status"
}
