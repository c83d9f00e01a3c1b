# shellcheck shell=bash disable=SC2154
# root comes from setup.sh.
#
# Podman, for tests. They are skipped if it cannot be installed.

podman_packages=(podman runc netavark aardvark-dns iproute2)

have_podman() {
    local needed=(/usr/bin/podman /usr/sbin/runc /usr/lib/podman/netavark /usr/lib/podman/aardvark-dns) file
    for file in "${needed[@]}"; do
        if [[ ! -x $file ]]; then
            step "installing Podman"
            apt_install "${podman_packages[@]}"
            return
        fi
    done
}

# see_to_podman_of FOLDER RELEASE: the Podman of another release, in FOLDER/debian; without RELEASE that of this machine.
see_to_podman_of() {
    if [[ $2 ]]; then
        see_to_release "$1/debian" "$2" "$(IFS=, && echo "${podman_packages[*]}"),iptables,nftables"
    else
        have_podman || give_up "Podman cannot be installed here" "apt-get install --no-install-recommends ${podman_packages[*]}"
    fi
}

see_to_podman() {
    have_podman || say "  Podman cannot be installed here: the tests that need it are skipped"
}

may_serve_podman() { [[ $EUID == 0 ]] && unshare --net true 2>/dev/null; }

# serve_podman FOLDER [RELEASE]: start a Podman there and wait until it answers.
serve_podman() {
    local folder=$1 tenth
    end_podman "$folder"  # of a killed run
    # The second address is the one by which containers reach this machine.
    # shellcheck disable=SC2016  # bash expands it there
    setsid unshare --net bash -c 'ip link set lo up && ip address add 192.0.2.1/32 dev lo && exec "$@"' - "$root/scripts/podman" "$@" \
        >"$folder/log" 2>&1 </dev/null &
    for ((tenth = 0; tenth < 600; tenth++)); do
        docker -H "unix://$folder/podman.sock" version >/dev/null 2>&1 && return
        sleep 0.1
    done
    tail -n 15 "$folder/log" >&2
    give_up "Podman does not answer" "see $folder/log"
}

# beside_podman FOLDER COMMAND…: run a command in Podman's network namespace, so that containers and it reach each other.
# Scripts that it starts leave the namespace, which has no way to the Internet.
beside_podman() {
    local service
    service=$(pgrep -f -- "^podman --root $1/root " | head -n 1)
    SMLOCAL_OUTER_NETWORK=/proc/$$/ns/net nsenter --net="/proc/$service/ns/net" -- "${@:2}"
}

# end_podman FOLDER: end the service and all processes in its network namespace, and unmount its mounts.
end_podman() {
    local folder=$1 service network process tenth
    for service in $(pgrep -f -- "^podman --root $folder/root "); do
        network=$(readlink "/proc/$service/ns/net") || continue
        [[ $network != "$(readlink /proc/self/ns/net)" ]] || continue
        for process in /proc/[0-9]*; do
            [[ $(readlink "$process/ns/net") != "$network" ]] || kill "${process##*/}" || true
        done 2>/dev/null
        # On its end it removes its socket, which must not be the next one's.
        for ((tenth = 0; tenth < 300; tenth++)); do
            [[ -e /proc/$service ]] || break
            sleep 0.1
        done
    done
    awk -v folder="$folder/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | tac | xargs -r umount --lazy || true
    rm -f "$folder/podman.sock"
    forget_name_server
}

# forget_name_server: netavark tells the process that this file names to read its configuration again (SIGHUP). A name server
# that was killed leaves the file, and another process may have its number by now.
forget_name_server() {
    local file=/run/containers/networks/aardvark-dns/aardvark.pid
    [[ ! -f $file || $(cat "/proc/$(<"$file")/comm" 2>/dev/null) == aardvark-dns ]] || rm -f "$file"
}

# Remove what killed tests have left. DOCKER_HOST must be Podman's socket.
clear_podman() {
    local kind
    docker ps --all --quiet --filter label=smlocal.job | xargs -r docker rm --force --volumes >/dev/null
    for kind in volume network; do
        docker "$kind" ls --quiet --filter label=smlocal.job | xargs -r docker "$kind" rm >/dev/null
    done
}
