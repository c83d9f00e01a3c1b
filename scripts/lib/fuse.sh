# shellcheck shell=bash
# FUSE, for FastFile channels from S3. Tests that need it are skipped without it.

see_to_fuse() {
    if command -v fusermount3 >/dev/null; then return; fi
    step "installing fuse3"
    apt_install fuse3 || say "  fuse3 cannot be installed here: the tests that mount FastFile channels are skipped"
}
