"""The syntax of image names, as engines define it."""

import re

from smlocal.base.regex import regex

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_DOMAIN = rf"(?:\[[0-9A-Fa-f:]+\]|{_LABEL}(?:\.{_LABEL})*)"
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}"
_NAME = regex(rf"(?:{_DOMAIN}(?::[0-9]+)?/)?{_PART}(?:/{_PART})*(?::\w[\w.-]{{0,127}})?(?:@{_DIGEST})?", re.ASCII)


def is_image_name(text: str) -> bool:
    """True for `[registry/]repository[:tag][@digest]` and for ids of images."""
    return _NAME.fullmatch(text) is not None
