# shellcheck shell=bash
# Chromium, in which the tests look at the page of the endpoint.

see_to_chromium() {
    local name
    for name in chromium chromium-browser google-chrome; do
        if command -v "$name" >/dev/null; then return; fi
    done
    step "installing chromium"
    apt_install chromium || give_up "no Chromium is installed, and the tests look at the endpoint's page in one" \
        "apt-get install chromium" "then run this again"
}
