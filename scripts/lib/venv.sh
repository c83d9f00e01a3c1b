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

# keep_venv FOLDER: keep what .venv is now for other clones, in place of what was kept before.
keep_venv() {
    local kept=$1 new=${1%/*}/new.$$
    mkdir -p "${kept%/*}"
    echo "$root" >"$root/.venv/.smlocal-root"
    if cp -a --reflink=auto "$root/.venv" "$new"; then
        rm -rf "${kept%/*}"/venv-*
        mv -T "$new" "$kept" 2>/dev/null || true
    fi
    rm -rf "$new"
}

# copy_venv FOLDER: make .venv of what another clone has kept, whose own path stands in a few of its files.
copy_venv() {
    local kept=$1 home
    home=$(<"$kept/.smlocal-root") || return
    rm -rf "$root/.venv"
    cp -a --reflink=auto "$kept" "$root/.venv" || return
    grep -rlIF "$home" "$root/.venv/bin" "$root/.venv/pyvenv.cfg" \
        "$root"/.venv/lib/python3*/site-packages/{*.pth,smlocal-*.dist-info} | xargs -r sed -i "s|$home|$root|g"
    "$root/.venv/bin/python" -c 'import smlocal' && "$root/.venv/bin/smlocal" --version >/dev/null
}

# see_to_venv GROUP: GROUP is empty (the package alone) or a dependency group of pyproject.toml.
see_to_venv() {
    local group=$1 python stamp wanted package made_of kept
    if ! python=$(find_python); then
        apt_install python3 python3-venv || true
        python=$(find_python) || give_up "Python 3.11 or newer is needed and was not found" \
            "apt-get install python3 python3-venv" \
            "or name one: PYTHON=/path/to/python3.11 $0"
    fi
    stamp=$root/.venv/.smlocal-setup
    made_of="$group $("$python" -c 'import sys; print(sys.version, sys.base_prefix)') $(sha256sum <"$root/pyproject.toml")"
    wanted="$made_of $root"
    # Whoever has the development group has the package too.
    if [[ -f $stamp ]] && { [[ $(<"$stamp") == "$wanted" ]] || [[ -z $group && $(<"$stamp") == "dev$wanted" ]]; }; then
        return
    fi
    # Installing a hundred packages takes as long as two hundred containers; a copy of them takes two seconds.
    kept=$cache/venvs/venv-$(sha256sum <<<"$made_of" | cut -c 1-16)
    if [[ -n $group && -d $kept ]]; then
        step "copying .venv as it was made before"
        if copy_venv "$kept"; then
            echo "$wanted" >"$stamp"
            return
        fi
        rm -rf "$root/.venv" "$kept"
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
    # shellcheck disable=SC2086  # no group, no option
    quietly "$cache/pip.log" "$root/.venv/bin/python" -m pip install --editable "$root" \
        ${group:+--group $root/pyproject.toml:$group}
    echo "$wanted" >"$stamp"
    [[ -z $group ]] || keep_venv "$kept"
}
