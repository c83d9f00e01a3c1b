"""Modules that are imported when something of them is used."""

import subprocess
import sys

import pytest

from smlocal.base.at_use import at_use


def test_nothing_is_imported_before_the_first_use() -> None:
    program = """
import sys
from smlocal.base.at_use import at_use
unified, colours, Fraction = at_use("difflib", "unified_diff"), at_use("colorsys"), at_use("fractions", "Fraction")
def half(of: "int" = 1) -> Fraction | None: return Fraction(of, 2)
print({"difflib", "colorsys", "fractions"} & set(sys.modules))
print(list(unified(["a"], ["a"])), colours.rgb_to_hsv(0, 0, 0), half())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n[] (0.0, 0.0, 0) 1/2\n"


def test_what_is_put_in_its_place_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("difflib.unified_diff", lambda *_: ["other"])
    assert at_use("difflib", "unified_diff")() == ["other"]


def test_a_module_has_its_exceptions() -> None:
    pickle = at_use("pickle")
    with pytest.raises(pickle.UnpicklingError):
        pickle.loads(b"no")
