import time
from threading import Event, Thread

import pytest

from smlocal.credentials.fresh import AHEAD_SECONDS, ExpiredError, Fresh
from smlocal.credentials.issued import Issued
from smlocal.errors import CredentialsMissingError, RoleNotAssumedError


class Giver:
    """Gives credentials that are good for so long, or says why not."""

    def __init__(self, *seconds: float | None) -> None:
        self.left = list(seconds)
        self.asked = 0

    def __call__(self) -> Issued:
        self.asked += 1
        if not self.left:
            raise RoleNotAssumedError("no more", details=("AccessDenied",))
        seconds = self.left.pop(0)
        expires = None if seconds is None else time.time() + seconds
        return Issued(access_key=f"AKIA{self.asked}", secret_key="x", expires=expires)


@pytest.mark.parametrize("seconds", [3 * AHEAD_SECONDS, AHEAD_SECONDS, None])
def test_what_is_good_is_not_asked_for_again(seconds: float | None) -> None:
    find = Giver(seconds)
    fresh = Fresh(find=find)
    fresh.first()
    assert {fresh.current().access_key for _ in range(3)} == {"AKIA1"}
    assert find.asked == 1


def test_they_are_renewed_before_they_expire() -> None:
    fresh = Fresh(find=Giver(1.2, 3600))
    fresh.first()
    stopped = Event()
    thread = Thread(target=fresh.keep, args=(stopped,))
    thread.start()
    until = time.monotonic() + 30
    while fresh.current().access_key == "AKIA1":
        assert time.monotonic() < until
        time.sleep(0.01)
    stopped.set()
    thread.join()
    assert fresh.current().access_key == "AKIA2"


def test_the_old_are_given_while_they_are_good_and_the_trouble_is_told_once() -> None:
    told: list[str] = []
    find = Giver(1.5)
    fresh = Fresh(find=find, tell=told.append)
    fresh.first()
    first = fresh.current()
    assert first.expires is not None
    until = time.monotonic() + 30
    while not told:
        assert fresh.current().access_key == "AKIA1"
        assert time.monotonic() < until
        time.sleep(0.01)
    assert told == ["no more; AccessDenied"]
    time.sleep(max(0.0, first.expires - time.time()))
    with pytest.raises(ExpiredError, match="no more"):
        fresh.current()
    assert find.asked == 2, "whoever asks again and again does not make us ask as often"
    assert len(told) == 1


def test_none_at_first() -> None:
    def find() -> Issued:
        raise CredentialsMissingError("nobody is logged in")

    with pytest.raises(CredentialsMissingError):
        Fresh(find=find).first()
    with pytest.raises(ExpiredError):
        Fresh(find=find).current()
