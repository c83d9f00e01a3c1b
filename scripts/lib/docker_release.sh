# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# The Docker of another Debian release, for tests, in a root file system of that release.

# shellcheck source=scripts/lib/release.sh
. "$root/scripts/lib/release.sh"

# A folder that users other than root can reach.
# shellcheck disable=SC2034  # the scripts read it
sockets=/run/smlocal-docker

see_to_docker_release() {
    see_to_release "$cache/docker/$1" "$1" docker.io,iptables,procps  # it runs ps
}
