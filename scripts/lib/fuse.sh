# shellcheck shell=bash
# FUSE, for FastFile channels from S3. The tests need it.

see_to_fuse() {
    if command -v fusermount3 >/dev/null; then return; fi
    step "installing fuse3"
    apt_install fuse3 || give_up "fusermount3 is not installed, and the tests mount FastFile channels" \
        "apt-get install fuse3" "then run this again"
}
