# shellcheck shell=bash
# Chromium, in which the tests look at the page of the endpoint.

see_to_chromium() {
    local name
    for name in chromium chromium-browser google-chrome; do
        if command -v "$name" >/dev/null; then return; fi
    done
    step "installing chromium"
    apt_install chromium || say "  Chromium cannot be installed here: the tests that look at pages in one are skipped"
}
