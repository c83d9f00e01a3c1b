# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# Locks. A process that outlives a lock must be started without its descriptor.

# The set-up: only one run may start an engine or make .venv.
begin_setup() {
    exec 8>"$cache/setup.lock"
    flock --nonblock 8 && return
    step "another set-up is under way: waiting for it"
    flock --timeout 3600 8 || give_up "the other set-up takes longer than an hour" "look for it:  fuser -v $cache/setup.lock"
}

end_setup() { exec 8>&-; }

# The whole test suite: all runs use one engine and the same names of jobs.
begin_tests() {
    exec 7>"$cache/tests.lock"
    flock --nonblock 7 && return
    step "another run of the whole suite is under way: waiting for it"
    flock --timeout 7200 7 || give_up "the other run takes longer than two hours" "look for it:  fuser -v $cache/tests.lock"
}

# locked NAME COMMAND…: run it while nobody else runs one under this name.
locked() (
    mkdir -p "$cache/locks"
    exec 9>"$cache/locks/$1"
    flock --timeout 3600 9 || give_up "the lock $cache/locks/$1 is held for more than an hour" "look for who has it:  fuser -v $cache/locks/$1"
    shift
    "$@" 9>&-
)
