# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# Pythons other than that of .venv, for the unit tests: those of this machine, else of Debian's testing release.

# shellcheck source=scripts/lib/release.sh
. "$root/scripts/lib/release.sh"

testing=forky
testing_folder=$cache/pythons-of/$testing
# What the tests start, beside Python.
testing_programs=docker-cli,git,procps,zsh,fish,less,openssh-client,openssl,fuse3,libfuse3-4

# The versions in pyproject.toml, except for that of .venv.
other_versions() {
    local ours
    ours=$("$root/.venv/bin/python" -c 'import sys; print("{}.{}".format(*sys.version_info))')
    sed -n 's/^ *"Programming Language :: Python :: \(3\.[0-9]*\)",$/\1/p' "$root/pyproject.toml" | grep -vx "$ours"
}

# python_of VERSION: prints the path of a Python of that version; pyenv's and uv's need not be on PATH.
python_of() {
    local version=$1 candidate
    for candidate in "python$version" "${PYENV_ROOT:-${HOME:-/root}/.pyenv}/versions/$version".*/bin/python \
        "${HOME:-/root}"/.local/share/uv/python/cpython-"$version".*/bin/python3; do
        if "$candidate" -c "import sys; sys.exit('{}.{}'.format(*sys.version_info) != '$version')" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# The newest of other_versions that this machine has.
newest_here() {
    local version newest=''
    for version in $(other_versions); do
        python_of "$version" >/dev/null && newest=$version
    done
    echo "$newest"
}

# in_testing COMMAND…: the command where the Pythons that this machine lacks are the testing release's.
in_testing() {
    local programs=$testing_programs each
    for each in $(other_versions); do
        python_of "$each" >/dev/null || programs+=,python$each,python$each-venv
    done
    see_to_release "$testing_folder" "$testing" "$programs" && (SMLOCAL_IN_RELEASE=yes in_release "$testing_folder" "$@")
}

# see_to_python VERSION PYTHON: an environment of that Python with what smlocal and its tests need, in $environment.
see_to_python() {
    local version=$1 python=$2
    environment=$cache/pythons/$version-$({
        "$python" -c 'import sys; print(sys.version, sys.base_prefix)'
        # The settings of tools come last in pyproject.toml, and make no other environment.
        sed '/^\[tool\./,$d' "$root/pyproject.toml" | cat - "$locks/dev.txt"
        declare -f see_to_python make_venv install_smlocal
    } | sha256sum | cut -c 1-16)
    if [[ ! -f $environment/made ]]; then
        step "Python $version: installing smlocal and the group dev (once)"
        mkdir -p "$cache/pythons"
        rm -rf "$cache/pythons/$version-"*
        if ! { make_venv "$python" "$environment" "$locks/dev.txt" && install_recordio_reader "$environment/bin/python"; }; then
            rm -rf "$environment"
            return 1
        fi
        touch "$environment/made"
    fi
    # The code of this clone, without a copy: some tests give no PYTHONPATH to what they start.
    [[ $(<"$environment/made") == "$root" ]] || {
        see_to_tools "$python" && install_smlocal "$environment" --editable && echo "$root" >"$environment/made"
    }
}
