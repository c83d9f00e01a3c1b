# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# A RecordIO reader that is not ours, for the tests: that of AWS's training toolkit. It is published as source with a C
# extension, which the tests do not need and which is left out. The packages that it imports are in the group dev.

see_to_recordio_reader() {
    "$root/.venv/bin/python" -c 'import sagemaker_training.recordio' 2>/dev/null && return
    step "installing an independent reader of RecordIO"
    install_recordio_reader "$root/.venv/bin/python" || give_up "the toolkit's wheel cannot be made"
}

# install_recordio_reader PYTHON: into the environment of that Python.
install_recordio_reader() {
    local wheels
    # shellcheck source=scripts/lib/bases.sh
    . "$root/scripts/lib/bases.sh"
    wheels=$(see_to_wheel sagemaker_training "$locks/images/tests-kit-images-toolkit.txt") || return
    quietly "$cache/pip.log" "$1" -m pip install --no-index --no-deps "$wheels"/*.whl
}
