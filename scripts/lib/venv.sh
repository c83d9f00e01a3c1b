# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# The virtual environment in .venv, made by uv when it is missing or when what it is made from has changed. uv keeps the
# packages in its cache, so the environment of another clone takes 10 s; the first one takes 25 s, and with pip a minute. 8 s
# of that go into compiling all modules, as pip does: where Python may not keep what it compiles (PYTHONDONTWRITEBYTECODE),
# each job with data in S3 would otherwise take half a second longer.

# Prints the path of a Python that is new enough, never that of an environment, which may be removed. The path is the same
# from inside and outside of .venv: another one would make the environment again while tests use it.
find_python() {
    local candidate says
    says='import os, sys; sys.version_info < (3, 11) and sys.exit(1); print(os.path.realpath(sys._base_executable))'
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
        "$candidate" -c "$says" 2>/dev/null && return
    done
    return 1
}

# see_to_uv PYTHON: $uv, kept in the cache.
see_to_uv() {
    local python=$1 package
    export UV_CACHE_DIR=$cache/uv/packages UV_PYTHON_DOWNLOADS=never UV_NO_CONFIG=1
    uv=$cache/uv/bin/uv
    "$uv" --version >/dev/null 2>&1 && return
    step "installing uv"
    if ! "$python" -m venv --clear "$cache/uv" >"$cache/venv.log" 2>&1; then
        # Debian splits venv from the interpreter, one package per version.
        package=$("$python" -c 'import sys; print("python{}.{}-venv".format(*sys.version_info))')
        step "installing $package"
        if ! apt_install "$package" || ! "$python" -m venv --clear "$cache/uv" >"$cache/venv.log" 2>&1; then
            tail -n 5 "$cache/venv.log" >&2
            give_up "$python cannot make a virtual environment" "apt-get install $package" "then run this again"
        fi
    fi
    quietly "$cache/pip.log" "$cache/uv/bin/python" -m pip install 'uv>=0.9'
}

# make_venv PYTHON FOLDER UV-PIP-ARGUMENT…: an environment with packages. A test needs pip in it.
make_venv() {
    local python=$1 folder=$2
    shift 2
    see_to_uv "$python" &&
        quietly "$cache/uv.log" "$uv" venv --clear --seed --python "$python" "$folder" &&
        quietly "$cache/uv.log" "$uv" pip install --compile-bytecode --python "$folder/bin/python" "$@"
}

# see_to_venv GROUP: GROUP is empty (the package alone) or a dependency group of pyproject.toml.
see_to_venv() {
    local group=$1 python stamp wanted
    if ! python=$(find_python); then
        apt_install python3 python3-venv || true
        python=$(find_python) || give_up "Python 3.11 or newer is needed and was not found" \
            "apt-get install python3 python3-venv" \
            "or name one: PYTHON=/path/to/python3.11 $0"
    fi
    stamp=$root/.venv/.smlocal-setup
    wanted="$group $("$python" -c 'import sys; print(sys.version)') $python $(sha256sum <"$root/pyproject.toml") $root"
    # An environment with the development group has the package too.
    if [[ -f $stamp ]] && { [[ $(<"$stamp") == "$wanted" ]] || [[ -z $group && $(<"$stamp") == "dev$wanted" ]]; }; then
        return
    fi
    step "installing smlocal${group:+ and the group $group} into .venv with $("$python" --version)"
    make_venv "$python" "$root/.venv" --editable "$root" ${group:+--group "$root/pyproject.toml:$group"}
    echo "$wanted" >"$stamp"
}
