"""Other users of this machine, who reach its loopback addresses too."""

import os
import pwd
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

_FIRST = 501 if sys.platform == "darwin" else 1000
"""The first number that a person's account has; those below are of the system."""
_NOBODY = 65534
_NO_SHELLS = {"false", "halt", "nologin", "shutdown", "sync"}
_LOGGED_IN = "/run/user"
"""Has a folder for each user who is logged in, including users whom a directory service does not list."""
_MOST_NAMES = 3


def other_users(
    owner: int | None = None,
    *,
    accounts: Iterable[pwd.struct_passwd] | None = None,
    logged_in: str = _LOGGED_IN,
) -> list[str]:
    """The names of people's accounts that are not of `owner`, the user who runs this process.

    Root does not count as another user: it can do everything anyway.
    """
    own = os.geteuid() if owner is None else owner
    all_accounts = pwd.getpwall() if accounts is None else accounts
    found = {account.pw_uid: account.pw_name for account in all_accounts if _may_log_in(account)}
    with suppress(OSError):
        for name in filter(str.isdecimal, os.listdir(logged_in)):
            found.setdefault(int(name), f"uid {name}")
    return sorted({name for uid, name in found.items() if uid >= _FIRST and uid not in {_NOBODY, own}})


def why_a_key(others: Sequence[str]) -> str:
    """The reason to demand a key without being asked: these other users, of whom it names three."""
    more = len(others) - _MOST_NAMES
    names = ", ".join(others[:_MOST_NAMES]) + (f", {more} more" if more > 0 else "")
    return f"others have an account on this machine ({names})"


def _may_log_in(account: pwd.struct_passwd) -> bool:
    """An account without a shell gets the usual one."""
    return os.path.basename(account.pw_shell) not in _NO_SHELLS
