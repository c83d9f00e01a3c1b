from dataclasses import dataclass, field

import pytest

from smlocal.data.sources.s3.aws_session import Credentials
from smlocal.errors import CredentialsMissingError, RoleNotAssumedError
from smlocal.jobs.credentials.server import AHEAD_SECONDS, ExpiredError, RenewedKeys

HOUR = 3600.0


@dataclass
class Giver:
    """Gives credentials that are good for so long, or says why not; and tells the time."""

    left: list[float | None]
    asked: int = 0
    now: float = 1_800_000_000.0
    told: list[str] = field(default_factory=list)

    def __call__(self) -> Credentials:
        self.asked += 1
        if not self.left:
            raise RoleNotAssumedError("no more", details=("AccessDenied",))
        seconds = self.left.pop(0)
        expires = None if seconds is None else self.now + seconds
        return Credentials(access_key=f"AKIA{self.asked}", secret_key="x", expires=expires)


def begun(*seconds: float | None) -> tuple[RenewedKeys, Giver]:
    giver = Giver(list(seconds))
    keys = RenewedKeys(fetch=giver, warn=giver.told.append, clock=lambda: giver.now)
    keys.fetch_first()
    return keys, giver


@pytest.mark.parametrize(
    ("seconds", "good"), [(HOUR, HOUR - AHEAD_SECONDS), (AHEAD_SECONDS, AHEAD_SECONDS / 2), (4.0, 2.0), (None, 300.0)]
)
def test_they_are_renewed_well_before_they_expire_and_not_sooner(seconds: float | None, good: float) -> None:
    keys, giver = begun(seconds, HOUR)
    giver.now += good - 1
    keys.renew_if_due()
    assert keys.current().access_key == "AKIA1"
    assert giver.asked == 1
    giver.now += 1.1
    keys.renew_if_due()
    assert keys.current().access_key == "AKIA2"


def test_whoever_asks_is_not_kept_waiting_while_the_old_ones_are_good() -> None:
    keys, giver = begun(HOUR, HOUR)
    giver.now += HOUR - 1
    assert keys.current().access_key == "AKIA1"
    giver.now += 2
    assert keys.current().access_key == "AKIA2", "nobody kept up"


def test_the_old_are_given_while_they_are_good_and_the_trouble_is_told_once() -> None:
    keys, giver = begun(HOUR)
    for _ in range(5):
        giver.now += HOUR / 6
        keys.renew_if_due()
        assert keys.current().access_key == "AKIA1"
    assert giver.told == ["no more; AccessDenied"]
    giver.now += HOUR / 6
    tried = giver.asked
    for _ in range(100):
        with pytest.raises(ExpiredError, match="no more"):
            keys.current()
    assert giver.asked == tried + 1, "whoever asks again and again does not make us ask as often"
    giver.left = [HOUR]
    giver.now += 11
    assert keys.current().access_key == f"AKIA{giver.asked}"
    assert len(giver.told) == 1


def test_none_at_first() -> None:
    def fetch() -> Credentials:
        raise CredentialsMissingError("nobody is logged in")

    with pytest.raises(CredentialsMissingError):
        RenewedKeys(fetch=fetch).fetch_first()
    with pytest.raises(ExpiredError):
        RenewedKeys(fetch=fetch).current()
