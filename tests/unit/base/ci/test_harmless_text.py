"""Text that a CI service's log would obey is made harmless, in any pieces; the reader here is not the program's own."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.base.ci.services import CommandGuard, harmless, harmless_json

COMMANDS = [
    "::warning::x",
    "  ::error file=a,line=1::x",
    "\t::stop-commands::x",
    "\u00a0::set-output name=x::y",
    "\u3000::add-mask::y",
    ":\u200b:warning::x",
    "\ufeff::warning::x",
    "a ##[error]b",
    "a ##vso[task.setvariable variable=x]y",
    "a ##VSO[task.complete]",
    "a #\u00ad#v\u200bso[task.complete]",
    "##teamcity[message text='x']",
    "progress\r::warning::x",
    "line\n::warning::x",
    "line\r\n ::warning::x",
]
ALPHABET = st.sampled_from([*":#[] \r\nvsox\t\u00a0\u200b\x00", "::", "##", "##vso[", "##[", "é"])


def obeyed(text: str) -> bool:
    """As the runners read a log: lines by any line end, and without characters that have no width."""
    for line in re.split(r"\r\n|\r|\n", text):
        seen = re.sub("[\x00\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]", "", line)
        if seen.lstrip().startswith("::") or re.search(r"##\w*\[", seen):
            return True
    return False


@pytest.mark.parametrize("text", COMMANDS)
def test_commands_are_not_obeyed(text: str) -> None:
    assert obeyed(text)
    assert not obeyed(harmless(text))
    assert not obeyed(CommandGuard().feed(text.encode()).decode())


@pytest.mark.parametrize("text", ["a::b", "std::vector", "# # [x]", "## Heading", "#1 [x]", "a: :b", "é ## ü"])
def test_other_text_is_not_changed(text: str) -> None:
    assert harmless(text) == text
    assert CommandGuard().feed(text.encode()).decode() == text


@given(text=st.lists(ALPHABET, max_size=30).map("".join))
def test_nothing_is_obeyed(text: str) -> None:
    assert not obeyed(harmless(text))


@given(pieces=st.lists(st.lists(ALPHABET, max_size=6).map("".join), max_size=12))
def test_nothing_is_obeyed_in_any_pieces(pieces: list[str]) -> None:
    guard = CommandGuard()
    assert not obeyed(b"".join(guard.feed(piece.encode()) for piece in pieces).decode())


def test_bytes_that_are_not_text_pass() -> None:
    guard = CommandGuard()
    assert guard.feed(b"\xff\xfe\n") + guard.feed(b"caf\xc3") + guard.feed(b"\xa9\n") == b"\xff\xfe\ncaf\xc3\xa9\n"


@given(text=st.lists(ALPHABET, max_size=20).map("".join))
def test_a_json_document_says_the_same(text: str) -> None:
    for document in (json.dumps({"Reason": text}, indent=2), json.dumps({text: [text]}, ensure_ascii=True)):
        written = harmless_json(document)
        assert json.loads(written) == json.loads(document)
        assert not obeyed(written)
