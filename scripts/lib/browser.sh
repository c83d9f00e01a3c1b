# shellcheck shell=bash
# Chromium, in which the tests look at the page of the endpoint.

see_to_browser() {
    if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then return; fi
    step "installing chromium"
    apt_install chromium || give_up "no Chromium is installed, and the tests look at pages in it" \
        "apt-get install --no-install-recommends chromium" "then run this again"
}
