"""Regular expressions that are compiled when they are first used."""

import re
from typing import Any

import pytest

from smlocal.base.regex import regex


def test_it_is_compiled_at_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def compile_it(*given: Any) -> "re.Pattern[str]":
        compiled.append(given)
        return real(*given)

    real = re.compile
    monkeypatch.setattr(re, "compile", compile_it)
    pattern = regex("(A)b", re.IGNORECASE)
    assert not compiled
    assert pattern.fullmatch("aB")
    assert pattern.sub("-", "xabx") == "x-x"
    assert pattern.groups == 1
    assert pattern.pattern == "(A)b"
    assert compiled[0] == ("(A)b", re.IGNORECASE)
