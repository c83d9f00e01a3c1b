# shellcheck shell=bash
# How the scripts talk: short lines on stderr, so that stdout stays for results.

say() { printf '%s\n' "$*" >&2; }

step() { printf '• %s\n' "$*" >&2; }

# A problem and what to do about it, one line each; exit status 3 says that this machine lacks something.
give_up() {
    printf 'error: %s\n' "$1" >&2
    shift
    (($#)) && printf '  %s\n' "$@" >&2
    exit 3
}

# Run a command with its output kept in a file, shown only when it fails.
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1 </dev/null; then
        say "error: this failed: $*"
        tail -n 25 "$log" >&2
        return 1
    fi
}
