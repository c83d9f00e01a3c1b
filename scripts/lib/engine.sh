# shellcheck shell=bash
# A Docker engine: a running one, else one that is installed and started, if that is allowed.

engine_log=/var/log/smlocal-dockerd.log

engine_version() { docker version --format '{{.Server.Version}}' 2>/dev/null; }

a_dockerd_runs() { grep -qsx dockerd /proc/[0-9]*/comm; }

wait_for_engine() {
    local second
    for ((second = 0; second < 60; second++)); do
        as_root docker version >/dev/null 2>&1 && return
        sleep 1
    done
    return 1
}

install_engine() {
    local packages=(docker.io iptables)
    may_be_root || return
    step "installing ${packages[*]}"
    apt_install "${packages[@]}" || return
    # In newer releases the client is a separate package.
    command -v docker >/dev/null || apt_install docker-cli
}

start_engine() {
    may_be_root || return
    if [[ -d /run/systemd/system ]]; then
        step "starting the docker service"
        as_root systemctl start docker || return
        wait_for_engine
        return
    fi
    if ! a_dockerd_runs; then
        step "starting dockerd (log: $engine_log)"
        # A killed engine leaves its pid file. The next one does not start while a process has that number.
        as_root rm -f /var/run/docker.pid
        # dockerd executes itself twice for each container, and garbage collection would take a third of that time.
        # shellcheck disable=SC2016  # $1 is for the inner shell
        as_root sh -c 'GOGC=400 setsid dockerd >"$1" 2>&1 </dev/null 8>&- &' sh "$engine_log"
    fi
    wait_for_engine && return
    say "dockerd does not answer; the end of $engine_log:"
    as_root tail -n 15 "$engine_log" >&2 || true
    return 1
}

without_engine="without one:     scripts/test --fast   (lint, types, and the unit tests that are not slow)"

how_to_get_an_engine() {
    # A socket that is there and not this user's to use tells more than that nobody answers.
    [[ -n ${DOCKER_HOST:-} || ! -S /var/run/docker.sock || -w /var/run/docker.sock ]] || how_to_use_the_engine
    give_up "no Docker engine answers at ${DOCKER_HOST:-unix:///var/run/docker.sock}" \
        "$without_engine" \
        "install one:     sudo apt-get install docker.io iptables" \
        "start it:        sudo systemctl start docker   (without systemd: sudo dockerd &)" \
        "one elsewhere:   export DOCKER_HOST=unix:///path/to/docker.sock" \
        "then run this again"
}

how_to_use_the_engine() {
    give_up "the Docker engine runs, but $(id -un) may not use it" \
        "$without_engine" \
        "to use it:       sudo usermod -aG docker $(id -un), then log in again and run this again"
}

# see_to_engine ARGUMENT…: the arguments of the calling script, which may have to be run again with another group.
see_to_engine() {
    if command -v docker >/dev/null && engine_version >/dev/null; then return; fi
    [[ -z ${DOCKER_HOST:-} ]] || how_to_get_an_engine
    command -v docker >/dev/null || install_engine || how_to_get_an_engine
    if ! may_be_root || ! as_root docker version >/dev/null 2>&1; then
        command -v dockerd >/dev/null || install_engine || how_to_get_an_engine
        start_engine || how_to_get_an_engine
    fi
    engine_version >/dev/null && return
    # It runs, but this user may not use it. A group for one command does not change the account.
    if [[ -z ${SMLOCAL_REGROUPED:-} ]] && sudo -n -g docker true 2>/dev/null; then
        step "using the engine through sudo -g docker (for good: sudo usermod -aG docker $USER, then log in again)"
        exec sudo -n -g docker --preserve-env SMLOCAL_REGROUPED=yes "$0" "$@"
    fi
    how_to_use_the_engine
}
