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

# Run a command with its output in a file. If it fails, print the end of the file.
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1 </dev/null; then
        say "error: this failed: $*"
        tail -n 25 "$log" >&2
        return 1
    fi
}
