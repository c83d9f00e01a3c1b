# shellcheck shell=bash disable=SC2154
# root and locks come from setup.sh.
#
# Parts of the locks in scripts/locks. Names in them are in lower case, with dashes.

# image_lock FILE: the path of the lock of a requirements.txt that an image is made from. It need not exist. A copy of a file
# of this repository, such as that of an example, has the same lock.
image_lock() {
    local folder same
    folder=$(cd "$(dirname "$1")" && pwd)
    if [[ $folder != "$root"/* ]]; then
        for same in "$root"/examples/*/image/requirements.txt "$root"/tests/kit/images/*/requirements.txt; do
            if cmp -s "$same" "$1"; then
                folder=$(dirname "$same")
                break
            fi
        done
    fi
    folder=${folder#"$root/"}
    echo "$locks/images/${folder//\//-}.txt"
}

# only_packages NAME… <LOCK: the entries of these packages, with their hashes.
only_packages() { _packages only "$@"; }

# without_packages NAME… <LOCK: all others.
without_packages() { _packages without "$@"; }

_packages() {
    awk -v mode="$1" -v names="${*:2}" '
        function normal(name) { name = tolower(name); gsub(/[-_.]+/, "-", name); return name }
        BEGIN { count = split(names, list, " "); for (i = 1; i <= count; i++) wanted[normal(list[i])] = 1 }
        /^[A-Za-z0-9]/ { split($0, parts, /[=<>!~;@ \[]/); named = (normal(parts[1]) in wanted) }
        !/^#/ && (named == (mode == "only"))
    '
}
