# shellcheck shell=bash disable=SC2154,SC2016
# root and cache come from setup.sh; single quotes are for an inner shell or apt.
#
# Base images without a registry: made from Debian packages and kept in the cache as root file systems. The tag is a hash
# of what they are made from, so they are made again only after a change.

# shellcheck source=scripts/lib/locks.sh
. "$root/scripts/lib/locks.sh"

suite=bookworm
# A file with additional Debian packages; scripts/image sets it.
debian_packages=/dev/null
# The local base for a public name, the BASE of a Dockerfile.
base_for() {
    case $1 in
        busybox | busybox:*) echo busybox ;;
        debian:bookworm | debian:bookworm-slim) echo debian ;;
        python:3.11-bookworm | python:3.11-slim-bookworm) echo python ;;
        *) return 1 ;;
    esac
}

base_tag() {
    local name=$1 digest
    digest=$({
        echo "$name $suite $(dpkg --print-architecture)"
        cat "$root/scripts/bases/$name" "$debian_packages"
        # The functions that make it, without comments.
        declare -f "fill_$name" fill_debian variables_of import_base
    } | sha256sum | cut -c 1-16)
    echo "smlocal-base/$name:$digest"
}

# The mirror in apt's configuration.
debian_mirror() {
    local mirror
    mirror=$(apt-get indextargets --format '$(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        sed -n 's/^Debian main //p' | head -n 1)
    echo "$mirror" # if empty, debootstrap has a default
}

packages_of() { sed 's/#.*//' "$root/scripts/bases/$1" "$debian_packages" | xargs; }

# Each of these fills the empty directory $2 as the root file system of base $1.

fill_busybox() {
    local into=$1 work=$2 applet
    mkdir "$work/deb"
    (cd "$work/deb" && quietly "$cache/base.log" apt-get download busybox-static) ||
        { apt_install busybox-static && (cd "$work/deb" && quietly "$cache/base.log" apt-get download busybox-static); } || return
    dpkg-deb -x "$work"/deb/*.deb "$work/deb/x" || return
    mkdir -p "$into"/{bin,dev,etc,proc,root,sys,tmp,usr/bin,usr/local/bin,var} || return
    ln -s bin "$into/sbin"
    chmod 1777 "$into/tmp"
    cp "$(find "$work/deb/x" -path '*/bin/busybox')" "$into/bin/busybox" || return
    for applet in $("$into/bin/busybox" --list); do
        [[ -e $into/bin/$applet ]] || ln -s busybox "$into/bin/$applet"
    done
    echo 'root:x:0:0:root:/root:/bin/sh' >"$into/etc/passwd"
    echo 'nobody:x:65534:65534:nobody:/tmp:/bin/sh' >>"$into/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$into/etc/group"
}

fill_debian() {
    local into=$1 base=${3:-debian} packages
    may_be_root || give_up "only root can make the base image $base from Debian packages, and sudo is not there or asks for a password" \
        "once, on this engine, as root:     scripts/image tests/kit/images/py" "then run this again: the image stays"
    command -v debootstrap >/dev/null || apt_install debootstrap debian-archive-keyring ||
        give_up "debootstrap is needed to make the base images without a registry" "sudo apt-get install debootstrap debian-archive-keyring"
    packages=$(packages_of "$base")
    quietly "$cache/base.log" as_root debootstrap --variant=minbase ${packages:+"--include=${packages// /,}"} \
        "$suite" "$into" "$(debian_mirror)" || return
    as_root sh -c 'cd "$1" && rm -rf var/lib/apt/lists/* var/cache/apt/* var/log/*.log usr/share/doc/* usr/share/man/* \
        usr/share/locale/* usr/share/info/* dev/* proc/* sys/*' sh "$into"
}

# Replaces the official image of Python: it has `python` and `pip`, which uses no index.
fill_python() {
    local into=$1 work=$2 site=usr/local/lib/python3.11/dist-packages
    fill_debian "$into" "$work" python || return
    only_packages pip <"$locks/tools.txt" >"$work/pip.txt"
    host_pip install --no-compile --no-deps --require-hashes --target "$work/pip" -r "$work/pip.txt" || return
    rm -rf "$work/pip/bin"
    printf '#!/bin/sh\nexec python3 -m pip "$@"\n' >"$work/pip.sh"
    as_root sh -c 'mkdir -p "$1/$3" && cp -r "$2/pip/." "$1/$3" && chmod -R go+rX,go-w "$1/$3" &&
        install -m 755 "$2/pip.sh" "$1/usr/local/bin/pip" && ln -s /usr/bin/python3 "$1/usr/local/bin/python" &&
        rm -f "$1/usr/lib/python3.11/EXTERNALLY-MANAGED"' sh "$into" "$work" "$site"
}

host_pip() {
    see_to_tools "$(find_python)" || return
    quietly "$cache/pip.log" "$tools" -m pip --cache-dir "$cache/pip" "$@"
}

# Packages for the image's Python into a folder. uv unpacks a file once for all images and environments; pip, four times slower,
# would download it once more.
install_for_image() {
    see_to_tools "$(find_python)" || return
    # shellcheck disable=SC2086  # as pip reads it: several places
    quietly "$cache/uv.log" "$uv" pip install --python "$tools" --python-version 3.11 --no-build \
        --python-platform "$(uname -m)-manylinux_2_36" ${PIP_FIND_LINKS:+--find-links $PIP_FIND_LINKS} "$@"
}

# pip must not use an index: there is no network in a build, and all packages are installed before.
variables_of() {
    [[ $1 != python ]] || echo PIP_NO_INDEX=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
}

import_base() {
    local name=$1 archive=$2 tag=$3
    docker import \
        --change "LABEL smlocal.base=$name" \
        --change "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $(variables_of "$name")" \
        --change 'CMD ["/bin/sh"]' \
        "$archive" "$tag" >/dev/null
}

# see_to_base NAME: have the base image NAME on the engine; prints its tag.
see_to_base() {
    local tag
    tag=$(base_tag "$1")
    have_image "$tag" || locked "${tag//[:\/]/-}" make_base "$1" "$tag" || return
    echo "$tag"
}

make_base() {
    local name=$1 tag=$2 archive work
    ! have_image "$tag" || return 0 # made by whoever had the lock
    archive=$cache/bases/$name-${tag##*:}.tar.gz
    if [[ ! -f $archive ]]; then
        step "making the base image $name from Debian packages (once)"
        mkdir -p "$cache/bases"
        work=$(mktemp -d "$cache/bases/making.XXXXXX")
        mkdir "$work/root"
        # Build in another folder, then rename: an incomplete root file system must not be used.
        if ! { "fill_$name" "$work/root" "$work" && pack "$work/root" "$work/archive" && mv "$work/archive" "$archive"; }; then
            discard "$work"
            say "error: the base image $name could not be made"
            return 1
        fi
        discard "$work"
    fi
    import_base "$name" "$archive" "$tag"
}

have_image() { docker image inspect "$1" >/dev/null 2>&1; }

pack() {
    # The files of fill_busybox belong to this user; in the image everything belongs to root.
    local owner=()
    [[ $(stat -c %u "$1") == 0 ]] || owner=(--owner=0 --group=0)
    as_root tar -C "$1" --numeric-owner "${owner[@]}" -cf - . | gzip -1 >"$2"
}

discard() { rm -rf "$1" 2>/dev/null || as_root rm -rf "$1"; }

# see_to_wheel NAME LOCK: a wheel of a package that is published only as source; prints its folder.
# C extensions are left out: not every machine has a compiler, and they would be for this machine's Python, not the
# image's.
see_to_wheel() {
    local name=$1 requirement folder
    requirement=$(only_packages "$name" <"$2")
    [[ -n $requirement ]] || { say "error: $name is not in ${2#"$root/"}: run scripts/lock"; return 1; }
    folder=$cache/wheels/$({
        echo "$requirement"
        declare -f make_wheel
    } | sha256sum | cut -c 1-16)
    [[ -d $folder ]] || locked "wheel-$name" make_wheel "$name" "$requirement" "$folder" || return
    echo "$folder"
}

make_wheel() {
    local name=$1 requirement=$2 folder=$3 work
    [[ ! -d $folder ]] || return 0 # made by whoever had the lock
    mkdir -p "$cache/wheels"
    work=$(mktemp -d "$cache/wheels/making.XXXXXX")
    mkdir "$work/source"
    echo "$requirement" >"$work/requirement.txt"
    if ! { host_pip download --no-deps --no-build-isolation --no-binary "$name" --dest "$work" --require-hashes \
        -r "$work/requirement.txt" &&
        tar -xzf "$work"/*.tar.gz -C "$work/source" --strip-components 1 &&
        sed -i 's/^ *ext_modules=.*//' "$work/source/setup.py" &&
        host_pip wheel --no-deps --no-build-isolation --wheel-dir "$work/wheel" "$work/source" && mv "$work/wheel" "$folder"; }; then
        discard "$work"
        return 1
    fi
    discard "$work"
}

# torch is three quarters of each image that has it, so all of them have it in the same layer, without what it asks for: that
# is in the layer above. Its build depends on the machine, so it has no hash.
_torch_of() { sed -n 's/^\(torch==[^ ;]*\).*/\1/p' "$1" | head -n 1; }

# requirements_tag BASE_TAG FILE: what see_to_requirements makes.
requirements_tag() {
    local base=$1 file=$2 torch
    torch=$(_torch_of "$file")
    [[ -z $torch ]] || base=$(_tag_with "$base" "$torch")
    _tag_with "$base" "$(cat "$file" "$(_alone "$file")" "$(_locked_packages "$file")")"
}

_tag_with() {
    echo "smlocal-base/python-with:$({
        echo "$1 $2"
        declare -f make_with make_wheel install_in_image install_for_image _without_dependencies
    } | sha256sum | cut -c 1-16)"
}

# A no-deps.txt next to a requirements.txt lists packages that are installed without their dependencies.
_alone() {
    local alone
    alone=$(dirname "$1")/no-deps.txt
    if [[ -f $alone ]]; then echo "$alone"; else echo /dev/null; fi
}

_locked_packages() {
    local lock
    lock=$(image_lock "$1")
    if [[ -f $lock ]]; then echo "$lock"; else echo /dev/null; fi
}

# see_to_requirements BASE_TAG FILE: the base with the packages of a requirements.txt, so that `pip install` in a
# Dockerfile needs no network; prints the tag. Packages without a wheel have a line `--no-binary NAME` in the file. What is in
# the lock of the file, or has hashes in the file itself, is installed only with these hashes.
see_to_requirements() {
    local base=$1 file=$2 tag torch
    tag=$(requirements_tag "$base" "$file")
    if ! have_image "$tag"; then
        torch=$(_torch_of "$file")
        if [[ -n $torch ]]; then
            base=$(see_to_torch "$base" "$torch") || return
        fi
        locked "${tag//[:\/]/-}" make_with "$base" "$file" "$tag" "$(_alone "$file")" "$(_locked_packages "$file")" || return
    fi
    echo "$tag"
}

see_to_torch() {
    local base=$1 torch=$2 tag file
    tag=$(_tag_with "$base" "$torch")
    if ! have_image "$tag"; then
        file=$(mktemp "$cache/torch.XXXXXX")
        echo "$torch" >"$file"
        locked "${tag//[:\/]/-}" make_with "$base" /dev/null "$tag" "$file" /dev/null || { rm -f "$file"; return 1; }
        rm -f "$file"
    fi
    echo "$tag"
}

# make_with BASE_TAG FILE TAG ALONE LOCK: ALONE and LOCK may be /dev/null, as FILE may.
make_with() {
    local base=$1 file=$2 tag=$3 alone=$4 lock=$5 work name wheels
    local sources=() built=()
    ! have_image "$tag" || return 0 # made by whoever had the lock
    if [[ $file == /dev/null ]]; then step "fetching $(<"$alone") (once)"; else step "fetching what ${file#"$root/"} asks for (once)"; fi
    mkdir -p "$cache/bases"
    work=$(mktemp -d "$cache/bases/making.XXXXXX")
    # shellcheck disable=SC2013  # names of packages have no spaces
    for name in $(sed -n 's/^--no-binary[ =]//p' "$file" "$alone"); do
        wheels=$(see_to_wheel "$name" "$lock") || {
            discard "$work"
            return 1
        }
        built+=("$name")
        sources+=(--find-links "$wheels")
    done
    if ! install_in_image; then
        discard "$work"
        return 1
    fi
    # Tests are a third of the packages' size and are not needed, but for these: numpy.testing imports one, and
    # scipy.sparse imports that. pip is already there.
    find "$work/site" -type d -name tests -not -path '*/numpy/_core/tests' -prune -exec rm -rf {} +
    rm -rf "$work/site/pip" "$work"/site/pip-*.dist-info "$work/site/.lock"
    # The layer below has it. Without a lock, pip has brought it along.
    [[ -z $(_torch_of "$file") ]] || rm -rf "$work"/site/{torch,torch-*.dist-info,torchgen,functorch}
    # Commands begin with the path of the Python that installed them; a long path takes three lines.
    mkdir -p "$work/bin"
    [[ ! -d $work/site/bin ]] || mv "$work/site/bin" "$work"
    rm -f "$work"/bin/pip*
    find "$work/bin" -type f -exec sed -i '1{s|^#!.*python.*|#!/usr/bin/python3|;t;N;N;s|^#!/bin/sh\n...exec. .*|#!/usr/bin/python3|}' {} +
    cat >"$work/Dockerfile" <<DOCKERFILE
FROM $base
COPY bin /usr/local/bin
COPY site /usr/local/lib/python3.11/dist-packages
# Some packages bring files for newer Pythons, which this one cannot compile and never imports.
RUN python3 -m compileall -q -j 0 /usr/local/lib/python3.11/dist-packages >/dev/null || true
DOCKERFILE
    if ! build "$tag" "$work"; then
        discard "$work"
        return 1
    fi
    discard "$work"
}

# Into $work/site, with the variables of make_with. A file with a lock or with hashes names all its packages, and none brings
# others along. What was built here has no hash.
install_in_image() {
    local locked=''
    if [[ $lock != /dev/null ]]; then
        without_packages "${built[@]}" <"$lock" >"$work/locked.txt"
    elif grep -q -- --hash= "$file"; then
        cat "$file" "$alone" >"$work/locked.txt"
    fi
    if [[ -e $work/locked.txt ]]; then
        install_for_image --target "$work/site" --no-deps --require-hashes -r "$work/locked.txt" || return
        locked="torch $(sed -n 's/^\([A-Za-z0-9._-]*\)==.*/\1/p' "$work/locked.txt")"
        # shellcheck disable=SC2086  # names of packages
        cat "$file" "$alone" | grep -v '^--' | without_packages $locked >"$work/others.txt"
    else
        [[ $file == /dev/null ]] || install_for_image --target "$work/site" -r "$file" || return
        cp "$alone" "$work/others.txt"
    fi
    _without_dependencies
}

_without_dependencies() {
    [[ -s $work/others.txt ]] || return 0
    install_for_image --target "$work/site" --no-deps "${sources[@]}" -r "$work/others.txt"
}

# build TAG FOLDER [OPTION…]: `docker build` without a registry, which removes what a failed attempt leaves.
# The classic builder is used because it accepts a local image in FROM.
build() {
    local tag=$1 folder=$2 log
    shift 2
    log=$(mktemp "$cache/build.XXXXXX")
    if ! DOCKER_BUILDKIT=0 docker build --pull=false --rm --force-rm "$@" --tag "$tag" "$folder" >"$log" 2>&1; then
        say "error: docker build of ${folder#"$root/"} failed:"
        tail -n 25 "$log" >&2
        # The layers of a failed build have no name. Others may be building at the same time, so only its own are removed.
        sed -n 's/^ ---> \([0-9a-f]\{12\}\)$/\1/p' "$log" | grep -Fx "$(docker image ls --quiet --filter dangling=true)" |
            xargs --no-run-if-empty docker image rm --force >/dev/null || true
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
