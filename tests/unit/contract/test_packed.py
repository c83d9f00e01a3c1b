"""Packed names are a sequence of strings like any other, in a tenth of the memory."""

import os
import sys
from itertools import count, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smlocal.contract.packed import NamePacker, PackedNames, packed, without

MANY = 10_000


def many(stem: str = "folder/") -> list[str]:
    """More than are kept as they are; every seventh has more bytes than characters, or is no UTF-8 at all."""
    odd = {0: "é\U0001f600", 3: os.fsdecode(b"\xff")}
    return [f"{stem}{number:05}{odd.get(number % 7, '')}" for number in range(MANY)]


@pytest.mark.parametrize("names", [many(), [name for name in many() if name.isascii()], many()[:5000] + [""] * 5000])
def test_they_behave_like_the_tuple_of_the_names(names: list[str]) -> None:
    kept = packed(iter(names))
    assert isinstance(kept, PackedNames)
    assert len(kept) == len(names)
    assert list(kept) == names
    assert kept == tuple(names)
    assert tuple(names) == kept
    assert hash(kept) == hash(tuple(names))
    assert kept == packed(names)
    assert kept != packed([*names[:-1], "x"])
    assert kept != tuple(names[:-1])
    assert [kept[number] for number in (0, 1, 4096, 4097, -1)] == [names[n] for n in (0, 1, 4096, 4097, -1)]
    assert kept.index(names[4321]) == names.index(names[4321])
    assert names[17] in kept
    assert "nobody" not in kept


def test_few_are_a_tuple() -> None:
    assert packed(["b", "a"]) == ("b", "a")
    assert isinstance(packed(["a"]), tuple)
    assert packed([]) == ()


@given(start=st.integers(-12_000, 12_000), stop=st.integers(-12_000, 12_000), step=st.integers(-5, 5).filter(bool))
@settings(max_examples=60, deadline=None)
def test_slices_are_views(start: int, stop: int, step: int) -> None:
    names = many()
    part = packed(names)[start:stop:step]
    assert list(part) == names[start:stop:step]
    assert list(part[1::2]) == names[start:stop:step][1::2]


def test_a_slice_takes_no_memory_of_its_own() -> None:
    kept = packed(many())
    assert sys.getsizeof(kept[::2]) < 200


def test_what_is_no_place_raises() -> None:
    kept = packed(many())
    with pytest.raises(IndexError):
        kept[MANY]
    with pytest.raises(ValueError, match="'x' is not among the names"):
        kept.index("x")
    with pytest.raises(ValueError, match="is not among the names"):
        kept.index(kept[0], 1)


@pytest.mark.parametrize("stem", ["folder/", "é/", ""])
@pytest.mark.parametrize("number", [3, MANY])
def test_a_common_beginning_is_cut(stem: str, number: int) -> None:
    names = many(stem)[:number]
    cut = without(packed(names), stem)
    assert list(cut) == [name.removeprefix(stem) for name in names]
    assert [cut[n] for n in (0, -1)] == [names[n].removeprefix(stem) for n in (0, -1)]
    assert list(cut[1::2]) == [name.removeprefix(stem) for name in names[1::2]]


def test_one_by_one_and_many_at_once_give_the_same() -> None:
    names = many()
    packer = NamePacker()
    packer.add(names[0])
    packer.extend(names[1:5000])
    for name in names[5000:6000]:
        packer.add(name)
    packer.extend(islice((names[number] for number in count(6000)), MANY - 6000))
    assert packer.names() == tuple(names)
