"""Facts about a setting beside its type: its place in a job file, its keyword and flag, and which commands take it.

Which kinds of jobs have no use for it is said by each kind (`job_reading`).
"""

from collections.abc import Callable
from enum import Enum, StrEnum
from typing import Annotated, Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.model.structure import REQUIRED, Member, Text
from smlocal.terms.validation.violation import Path

LOCAL: Final = "Local"
NotEmpty = Annotated[str, Text(minimum=1)]


class Form(Enum):
    """The type of a keyword's value, and how often its flag is written."""

    TEXT = "a string"
    NUMBER = "a whole number"
    SWITCH = "a boolean"
    PATH = "a path (str or os.PathLike)"
    LIST = "a list; the flag is repeated"
    WORDS = "a list; the flag has it in one word, as a shell splits it"
    MAP = "a dict; the flag is repeated"


class Values(Enum):
    """The allowed values of a dict, in the words of an error message."""

    TEXT = "a string"
    PLAIN = "a string, a number or a boolean"
    PATH = "a path (str or os.PathLike)"
    ANY = "any"
    """They are checked with the request."""


class Head(StrEnum):
    """Under which head the help of a command shows a flag, in this order."""

    CHECK = "Check"
    SERVICE = "Service"
    JOB = "Job"
    DATA = "Data and code"
    MACHINE = "Instances and this machine"
    RUN = "Run"
    RESULT = "Result"
    SCREEN = "Output"
    OTHER = "Other options"


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """How a setting is given without the file: by a keyword of `smlocal.run`, and by a flag of the commands."""

    keyword: str
    place: Path = ()
    """The member that it sets in the document. For a map, this is the map."""
    form: Form = Form.TEXT
    values: Values = Values.TEXT
    """The kind of the values of a dict."""
    example: str = ""
    """For the error about a value of another type."""
    flags: tuple[str, ...] = ()
    """The long one first. By default it is the keyword."""
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    """The least value of a number."""
    help: str = ""
    """The help text of the flag."""
    head: Head = Head.OTHER
    common: bool = False
    """True if `--help` shows the flag, and not only `--help-all`."""
    written: Callable[[Any], Any] = lambda value: value
    """Makes what the document gets of a value."""
    when_given: bool | int | str = True
    """The value that a switch sets."""
    default: Any = None
    """The default in a request that no file describes."""
    of_run: bool = False
    """True if only commands that run a job have the flag, and none that only look at one."""
    submitted: bool | None = None
    """True if `smlocal submit` takes the flag as `smlocal run` does. By default it does if it is about the request."""

    @property
    def flag(self) -> str:
        """The long flag."""
        return self.flags[0] if self.flags else f"--{self.keyword.replace('_', '-')}"

    @property
    def is_submitted(self) -> bool:
        """True if `smlocal submit` takes the flag as `smlocal run` does."""
        return self.place[:1] != (LOCAL,) if self.submitted is None else self.submitted


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalMember(Member):
    """A member of `Local`."""

    option: Option | None = None
    by_clients: bool = False
    """True if every client of `smlocal serve` may set it; folders are looked at one by one. Others run commands or
    share what belongs to the owner of the server."""


def setting(
    *,
    description: str,
    default: Any = REQUIRED,
    default_factory: Callable[[], Any] | None = None,
    option: Option | None = None,
    by_clients: bool = False,
) -> Any:
    """A member of `Local`, for the class of its aspect."""
    return LocalMember(
        annotation=None,
        default=default,
        make_default=default_factory,
        description=description,
        option=option,
        by_clients=by_clients,
    )
