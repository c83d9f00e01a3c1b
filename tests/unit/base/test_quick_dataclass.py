"""Classes made quickly are as those that the standard library makes, in all that this package does with them."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from smlocal.base import quick_dataclass

_quick: Any = quick_dataclass.dataclass
BOTH = pytest.mark.parametrize("dataclass", [_quick, dataclasses.dataclass], ids=["quick", "standard"])


def frozen(dataclass: Any) -> Any:
    @dataclass(frozen=True, kw_only=True, slots=True)
    class Frozen:
        kind: ClassVar[str] = "kind"
        first: int
        second: str = "two"
        third: list[int] = field(default_factory=list)
        unseen: int = field(default=0, repr=False, compare=False)

        def doubled(self) -> int:
            return 2 * self.first

    return Frozen


def changing(dataclass: Any) -> Any:
    @dataclass(kw_only=True, slots=True)
    class Base:
        """One to inherit from."""

        first: int
        made: list[int] = field(init=False, default_factory=list)
        later: int = field(init=False)

    @dataclass(kw_only=True, slots=True)
    class Changing(Base):
        second: int = 2

        def __post_init__(self) -> None:
            self.later = self.first + self.second

        def __repr__(self) -> str:
            return f"<{self.first}>"

    return Changing


@BOTH
def test_a_frozen_one(dataclass: Any) -> None:
    made = frozen(dataclass)
    one = made(first=1)
    assert (one.first, one.second, one.third, one.kind, one.doubled()) == (1, "two", [], "kind", 2)
    assert one.third is not made(first=1).third
    assert one == made(first=1, unseen=7)
    assert one != made(first=2)
    assert one != "another thing"
    assert repr(one).endswith("Frozen(first=1, second='two', third=[])")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'first'"):
        one.first = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'first'"):
        del one.first
    with pytest.raises(AttributeError):
        one.__dict__  # noqa: B018 - it has slots instead


@BOTH
def test_equal_frozen_ones_have_one_hash(dataclass: Any) -> None:
    @dataclass(frozen=True, kw_only=True, slots=True)
    class Key:
        name: str
        number: int = field(default=0, compare=False)

    assert len({Key(name="a"), Key(name="a", number=2), Key(name="b")}) == 2


@BOTH
def test_one_without_fields(dataclass: Any) -> None:
    @dataclass(frozen=True, kw_only=True, slots=True)
    class Empty:
        pass

    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())


@BOTH
def test_one_that_changes(dataclass: Any) -> None:
    made = changing(dataclass)
    one = made(first=1)
    assert (one.first, one.second, one.made, one.later, repr(one)) == (1, 2, [], 3, "<1>")
    one.second = 5
    assert one != made(first=1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


@BOTH
def test_what_is_compared_by_identity(dataclass: Any) -> None:
    @dataclass(kw_only=True, slots=True, eq=False)
    class Thing:
        name: str

    one = Thing(name="a")
    assert one != Thing(name="a")
    assert {one: 1}[one] == 1


@BOTH
@pytest.mark.parametrize("given", [{}, {"first": 1, "unheard_of": 2}, {"first": 1, "kind": "x"}])
def test_wrong_arguments(dataclass: Any, given: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        frozen(dataclass)(**given)
    with pytest.raises(TypeError):
        frozen(dataclass)(1)


@BOTH
def test_what_the_library_does_with_dataclasses(dataclass: Any) -> None:
    one: Any = frozen(dataclass)(first=1, third=[3])
    assert dataclasses.is_dataclass(type(one))
    assert [each.name for each in dataclasses.fields(one)] == ["first", "second", "third", "unseen"]
    assert dataclasses.asdict(one) == {"first": 1, "second": "two", "third": [3], "unseen": 0}
    assert dataclasses.replace(one, first=4).first == 4
    assert copy.copy(one) == one
    assert copy.deepcopy(one).third is not one.third


@quick_dataclass.dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    path: Path
    number: int = 1


@pytest.mark.parametrize("through", [pickle.dumps, lambda one: pickle.dumps(one, protocol=5)])
def test_pickled(through: Callable[[object], bytes]) -> None:
    one = Kept(path=Path("a"), number=3)
    assert pickle.loads(through(one)) == one


def test_one_with_slots_above_it() -> None:
    class Above:
        __slots__ = ("first",)

    @_quick(kw_only=True, slots=True)
    class Below(Above):
        first: int
        second: int = 2

    made: Any = Below(first=1)
    assert (Below.__slots__, made.first, made.second) == (("second",), 1, 2)
    assert not hasattr(made, "__dict__")


@BOTH
def test_a_default_that_can_change_is_refused(dataclass: Any) -> None:
    class Plain:
        members: list[int] = []  # noqa: RUF012 - what is refused

    with pytest.raises(ValueError, match="use default_factory"):
        dataclass(kw_only=True, slots=True)(Plain)
