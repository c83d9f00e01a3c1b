# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# The virtual environment in .venv, made once and again only when what it is made from has changed.

find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

make_venv() {
    local python=$1
    rm -rf "$root/.venv"
    "$python" -m venv "$root/.venv" >"$cache/venv.log" 2>&1
}

# see_to_venv GROUP: GROUP is empty (the package alone) or a dependency group of pyproject.toml.
see_to_venv() {
    local group=$1 python stamp wanted package
    if ! python=$(find_python); then
        apt_install python3 python3-venv || true
        python=$(find_python) || give_up "Python 3.11 or newer is needed and was not found" \
            "apt-get install python3 python3-venv" \
            "or name one: PYTHON=/path/to/python3.11 $0"
    fi
    stamp=$root/.venv/.smlocal-setup
    wanted="$group $("$python" --version 2>&1) $(sha256sum <"$root/pyproject.toml") $root"
    # Whoever has the development group has the package too.
    if [[ -f $stamp ]] && { [[ $(<"$stamp") == "$wanted" ]] || [[ -z $group && $(<"$stamp") == "dev$wanted" ]]; }; then
        return
    fi
    if ! "$root/.venv/bin/python" -c '' 2>/dev/null; then
        step "making .venv with $("$python" --version)"
        if ! make_venv "$python"; then
            # Debian splits venv from the interpreter, one package per version.
            package=$("$python" -c 'import sys; print("python{}.{}-venv".format(*sys.version_info))')
            step "installing $package"
            if ! apt_install "$package" || ! make_venv "$python"; then
                tail -n 5 "$cache/venv.log" >&2
                give_up "$python cannot make a virtual environment" "apt-get install $package" "then run this again"
            fi
        fi
    fi
    step "installing smlocal${group:+ and the group $group} into .venv"
    # Dependency groups need pip 25.1, newer than what most distributions ship.
    quietly "$cache/pip.log" "$root/.venv/bin/python" -m pip install --upgrade 'pip>=25.1'
    # What is compiled is what is used, the first time: of what the tests need that is a small part.
    # shellcheck disable=SC2086  # no group, no option
    quietly "$cache/pip.log" "$root/.venv/bin/python" -m pip install --editable "$root" \
        ${group:+--no-compile --group $root/pyproject.toml:$group}
    echo "$wanted" >"$stamp"
}
