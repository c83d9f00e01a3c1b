"""Every setting of a job that is not only a member of a platform's request: the one table of them, by aspects.

An aspect of a job has its members of `Local` in a class, and those members of the request that have a keyword and a
flag in a tuple. A setting is declared there and nowhere else; its type is its annotation. The schema, the keywords of
`smlocal.run`, the flags of the commands and each platform's refusals are computed from this table.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final, Literal, get_args, get_origin

from smlocal.jobfile.option import LOCAL, Form, Head, LocalMember, NotEmpty, Option, Values, setting
from smlocal.jobfile.settings_of_data import (
    CREDENTIALS,
    INPUT,
    CacheSettings,
    CredentialSettings,
    InputSettings,
    LocationSettings,
    OutputSettings,
)
from smlocal.jobfile.settings_of_hosts import (
    HOSTS,
    IMAGE,
    AcceleratorSettings,
    ArchiveSettings,
    DataParallelSettings,
    DebugSettings,
    HostSettings,
    ImageSettings,
    KeepSettings,
    LimitSettings,
    NetworkSettings,
    PlacementSettings,
)
from smlocal.terms.model.structure import Items, Structure, Text, Whole, members


class Fault(Structure):
    """A simulated failure of the service."""

    Kind: Literal[
        "Interrupt",
        "InternalError",
        "LateNames",
        "LateFifo",
        "CapacityError",
        "ResourceLimitExceeded",
        "StockOut",
        "Maintenance",
    ]
    """A spot interruption, a failure of the platform, names of peers that resolve late, FIFOs that come late, no
    instances for the job, a limit of the account that refuses it, no machines for the job, or maintenance of a
    machine."""
    When: Literal["Before", "During", "After"] = "During"
    """Before, during or after training, for a failure of the platform."""
    AfterSeconds: Annotated[int, Whole(minimum=0, maximum=2_419_200)] = 0
    """Seconds of training before the fault, for a fault during training. The delay of LateNames and LateFifo."""
    Times: Annotated[int, Whole(minimum=1, maximum=100)] = 1
    """Number of attempts of the job in which the fault happens."""
    Instance: NotEmpty | None = None
    """The type without instances, for CapacityError. Default: all types of the job."""
    Replica: NotEmpty | None = None
    """The replica whose machine is maintained, such as `workerpool1-0` or `master-0`.

    Default: that of the primary replica.
    """


FAULTS_OF_A_TYPE: Final = frozenset({"CapacityError"})
"""Kinds of faults that may name an instance type."""


class FaultSettings(Structure):
    """Which failures of the service happen, and when their code is known."""

    Faults: Annotated[list[Fault], Items(minimum=0, maximum=20)] = setting(
        default_factory=list, description="Faults of the service to simulate.", by_clients=True
    )
    ErrorDelaySeconds: Annotated[int, Whole(minimum=0, maximum=3600)] = setting(
        default=60,
        description="Seconds after the end of a job until its error code is attached.",
    )


class ChangeSettings(Structure):
    """Reports about files in the containers."""

    ListChanges: bool = setting(
        default=False,
        description="List the files that containers write outside the platform's folders and /tmp, which are lost.",
        by_clients=True,
    )


class RuleSettings(Structure):
    """Whether rules are evaluated, and the actions that follow."""

    Rules: bool = setting(
        default=True,
        description="Evaluate debugger rules beside the job.",
        option=Option(
            keyword="no_rules",
            form=Form.SWITCH,
            when_given=False,
            help="Do not evaluate debugger rules.",
            head=Head.RUN,
        ),
    )
    OnRule: Annotated[dict[NotEmpty, NotEmpty], Items()] = setting(
        default_factory=dict,
        description="The action when a rule finds an issue, by the name of the rule or *: stop, or a command.",
    )


class CheckIgnore(Structure):
    """A finding of `smlocal check` that is accepted."""

    Id: NotEmpty
    """The rule, such as `entrypoint-shell-form`."""
    Reason: NotEmpty
    """Why the finding is accepted."""
    Until: Annotated[str, Text(pattern="[0-9]{4}-[0-9]{2}-[0-9]{2}")] | None = None
    """The last day on which the finding is ignored, as YYYY-MM-DD. Default: no end."""
    Path: NotEmpty | None = None
    """Only findings at this path in the image; `*` and `?` as in a shell. Default: all of the rule."""


class CheckSettings(Structure):
    """Settings of `smlocal check`."""

    Ignore: Annotated[list[CheckIgnore], Items(minimum=0, maximum=100)] = setting(
        default_factory=list, description="Findings that are accepted, each with a reason."
    )


class LocalSettings(
    LocationSettings,
    OutputSettings,
    CacheSettings,
    CredentialSettings,
    InputSettings,
    HostSettings,
    PlacementSettings,
    NetworkSettings,
    ArchiveSettings,
    LimitSettings,
    AcceleratorSettings,
    DataParallelSettings,
    ImageSettings,
    DebugSettings,
    KeepSettings,
    FaultSettings,
    ChangeSettings,
    RuleSettings,
):
    """Settings for this machine only. Relative paths are relative to the job file."""

    Check: CheckSettings = setting(default_factory=CheckSettings, description="Settings of smlocal check.")


_OF_THE_DOCUMENT: Final = (
    Option(
        keyword="members",
        flags=("--set",),
        form=Form.MAP,
        values=Values.ANY,
        example='members={"ResourceConfig.InstanceCount": 2}',
        metavar="PATH=VALUE",
        help="Set one member of the job file; other options override it. Repeatable.",
        head=Head.JOB,
        common=True,
    ),
    Option(
        keyword="name",
        place=("TrainingJobName",),
        metavar="NAME",
        help="Name of the job. Default: made from the file, image or earlier job, and the time.",
        head=Head.JOB,
        common=True,
    ),
)
OF_PIPELINES: Final = (
    Option(
        keyword="select",
        form=Form.LIST,
        written=list,
        example='select=["Train"]',
        metavar="STEP",
        help="Step of a pipeline that runs, and no others; repeatable.",
        head=Head.JOB,
    ),
    Option(
        keyword="source_execution",
        metavar="EXECUTION",
        help="Earlier execution with the results of steps that are not selected.",
        head=Head.JOB,
    ),
    Option(
        keyword="queue",
        metavar="URL",
        help="SQS queue that gets the messages of Callback steps.",
        submitted=False,
        head=Head.JOB,
    ),
)
"""Only such a file has a place for them."""


def _settings() -> dict[str, LocalMember]:
    """The members of `Local`."""
    return {name: each for name, each in members(LocalSettings).items() if isinstance(each, LocalMember)}


def _options() -> dict[str, Option]:
    """By their keywords."""
    of_this_machine = (_option(name, each) for name, each in _settings().items())
    of_requests = (*_OF_THE_DOCUMENT, *IMAGE, *INPUT, *HOSTS, *CREDENTIALS, *OF_PIPELINES)
    return {each.keyword: each for each in (*of_this_machine, *of_requests) if each is not None}


def _option(name: str, known: LocalMember) -> Option | None:
    """The option of a member of `Local`, with what the member says about it."""
    if known.option is None:
        return None
    return replace(
        known.option,
        place=(LOCAL, name),
        choices=get_args(known.present) if get_origin(known.present) is Literal else (),
        help=known.option.help or known.description or "",
    )


OPTIONS: Final[Mapping[str, Option]] = _options()
"""All that has a keyword and a flag, by its keyword."""


SET_BY_CLIENTS: Final = frozenset(name for name, each in _settings().items() if each.by_clients)
"""The members of `Local` that every client of `smlocal serve` may set."""
