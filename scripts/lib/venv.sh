# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# The virtual environment in .venv, made by uv when it is missing or when what it is made from has changed. uv keeps the
# packages in its cache, so the environment of another clone takes 10 s; the first one takes 25 s, and with pip a minute. 8 s
# of that go into compiling all modules, as pip does: where Python may not keep what it compiles (PYTHONDONTWRITEBYTECODE),
# each job with data in S3 would otherwise take half a second longer.
#
# Everything that comes from a package index is in a lock of scripts/locks with its hashes, which scripts/lock writes. Only
# wheels are installed, so no code of a package runs before it is used.

locks=$root/scripts/locks

# Prints the path of a Python that is new enough, never that of an environment, which may be removed. The path is the same
# from inside and outside of .venv: another one would make the environment again while tests use it.
find_python() {
    local candidate says
    says='import os, sys; sys.version_info < (3, 11) and sys.exit(1); print(os.path.realpath(sys._base_executable))'
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.15 python3.14 python3.13 python3.12 python3.11; do
        "$candidate" -c "$says" 2>/dev/null && return
    done
    return 1
}

# see_to_tools PYTHON: $uv, and $tools, a Python with pip and setuptools for scripts/lib/bases.sh. Kept in the cache.
see_to_tools() {
    local python=$1 folder package
    export UV_CACHE_DIR=$cache/uv/packages UV_PYTHON_DOWNLOADS=never UV_NO_CONFIG=1
    folder=$cache/tools/$({
        "$python" -c 'import sys; print(sys.version, sys.base_prefix)'
        cat "$locks/tools.txt"
    } | sha256sum | cut -c 1-16)
    uv=$folder/bin/uv
    tools=$folder/bin/python
    [[ ! -e $folder/complete ]] || return 0
    mkdir -p "$cache/tools"
    exec 6>"$cache/tools/lock" # images and environment of a new machine are made at the same time
    flock 6
    if [[ ! -e $folder/complete ]]; then
        step "installing uv"
        if ! "$python" -m venv --clear "$folder" >"$cache/venv.log" 2>&1; then
            # Debian splits venv from the interpreter, one package per version.
            package=$("$python" -c 'import sys; print("python{}.{}-venv".format(*sys.version_info))')
            step "installing $package"
            if ! apt_install "$package" || ! "$python" -m venv --clear "$folder" >"$cache/venv.log" 2>&1; then
                tail -n 5 "$cache/venv.log" >&2
                give_up "$python cannot make a virtual environment" "apt-get install $package" "then run this again"
            fi
        fi
        quietly "$cache/pip.log" "$tools" -m pip install --require-hashes --only-binary=:all: --requirement "$locks/tools.txt" ||
            return
        touch "$folder/complete"
    fi
    exec 6>&-
}

# make_venv PYTHON FOLDER LOCK [OPTION-OF-UV-PIP-INSTALL…]: an environment with the packages of a lock.
make_venv() {
    local python=$1 folder=$2 lock=$3
    shift 3
    see_to_tools "$python" &&
        quietly "$cache/uv.log" "$uv" venv --clear --python "$python" "$folder" &&
        quietly "$cache/uv.log" "$uv" pip install --compile-bytecode --python "$folder/bin/python" --no-build \
            --require-hashes --requirements "$lock" "$@"
}

# install_smlocal FOLDER [--editable]: this clone into an environment that has what it needs, and what builds it.
install_smlocal() {
    local folder=$1
    shift
    quietly "$cache/uv.log" "$uv" pip install --compile-bytecode --python "$folder/bin/python" --offline --no-deps \
        --no-build-isolation "$@" "$root"
}

# see_to_venv GROUP: GROUP is empty (the package alone) or dev, the dependency group of pyproject.toml.
see_to_venv() {
    local group=$1 python stamp wanted lock
    lock=$locks/${group:-package}.txt
    if ! python=$(find_python); then
        apt_install python3 python3-venv || true
        python=$(find_python) || give_up "Python 3.11 or newer is needed and was not found" \
            "apt-get install python3 python3-venv" \
            "or name one: PYTHON=/path/to/python3.11 $0"
    fi
    stamp=$root/.venv/.smlocal-setup
    wanted="$group $("$python" -c 'import sys; print(sys.version)') $python $(
        # The settings of tools come last in pyproject.toml, and make no other environment.
        sed '/^\[tool\./,$d' "$root/pyproject.toml" | cat - "$locks/dev.txt" "$locks/package.txt" | sha256sum
    ) $root"
    # An environment with the development group has the package too.
    if [[ -f $stamp ]] && { [[ $(<"$stamp") == "$wanted" ]] || [[ -z $group && $(<"$stamp") == "dev$wanted" ]]; }; then
        return
    fi
    step "installing smlocal${group:+ and the group $group} into .venv with $("$python" --version)"
    rm -f "$stamp"
    make_venv "$python" "$root/.venv" "$lock" && install_smlocal "$root/.venv" --editable && echo "$wanted" >"$stamp"
}

# see_to_environment LOCK [PACKAGE [OPTION-OF-UV-PIP-INSTALL…]]: an environment with a lock's packages and nothing of smlocal,
# in $environment. It is shared by all clones: its folder is named after what the lock says. PACKAGE is one that has no hash.
see_to_environment() {
    local lock=$1 more=${2:-} python name
    python=$(find_python) || give_up "Python 3.11 or newer is needed and was not found"
    name=$(basename "$lock" .txt)-$({
        cat "$lock"
        echo "$more"
        "$python" --version
        declare -f see_to_environment make_venv
    } | sha256sum | cut -c1-16)
    environment=$cache/clients/$name
    mkdir -p "$cache/clients"
    exec 9>"$cache/clients/$name.lock"
    flock 9
    if [[ ! -e $environment/complete ]]; then
        make_venv "$python" "$environment" "$lock" --no-deps || return
        [[ -z $more ]] || quietly "$cache/uv.log" "$uv" pip install --compile-bytecode --python "$environment/bin/python" \
            --no-build --no-deps "${@:3}" "$more" || return
        touch "$environment/complete"
    fi
    exec 9>&-
}
