"""The checks in a place that restricts its engine: what cannot be asked or tried there."""

import os

from smlocal.data.channels.fastfile.availability import why_no_fuse
from smlocal.doctor.judgement import Judgement, Readiness, problem, unknown, warning
from smlocal.doctor.machine import ContainerTrial, Machine
from smlocal.engine.facts import Place

_INSTEAD = "What differs, and what to do instead: smlocal help studio"
_LESS_DATA = "--set Local.Sample=100 runs a job on the first 100 objects of each channel"


def check_place(machine: Machine) -> Judgement | None:
    """What the place allows. There is no such check on a machine whose engine is its own."""
    return None if machine.place is None else judge_place(machine.place, engine=machine.engine_error is None)


def judge_place(place: Place, *, engine: bool) -> Judgement:
    """Whether its administrator has turned the engine on, and what is lost even so."""
    where = f"{place.name} ({place.app})"
    if not engine:
        return unknown(f"{where}: what it allows is not checked without an engine")
    return warning(
        f"{where}: jobs have one host, and share the network '{place.network}' with this program. No isolation, no "
        "shell in a running container, no measured usage",
        _INSTEAD,
    )


def judge_home_there(place: Place, home: str, found: Judgement) -> Judgement:
    """Its engine is only known to mount what is below the user's own folder."""
    own = os.path.realpath(os.path.expanduser("~"))
    if os.path.commonpath((own, os.path.realpath(home))) != own:
        return problem(
            f"{home} is not below {own}, and {place.name} is not known to mount anything else",
            "Unset SMLOCAL_HOME, or set it to a folder below your home folder.",
        )
    return found


def judge_untried(place: Place, trial: ContainerTrial) -> Judgement:
    """No image could be built: in a domain without the internet, even an empty one is refused."""
    return warning(
        f"not tested, because no empty image could be built: {trial.untried}",
        f"Run a job with an image that {place.name} may pull: smlocal run --image IMAGE",
    )


def judge_overlay_there(place: Place) -> Judgement:
    """Nothing is tried that the engine may refuse."""
    return warning(f"File channels are copied before each run: {place.name} is not known to allow overlays", _LESS_DATA)


def judge_fuse_there(place: Place) -> Judgement:
    """Likewise, even if this machine has FUSE."""
    why = why_no_fuse() or f"{place.name} is not known to show its containers what FUSE mounts"
    return warning(f"FastFile channels in S3 are downloaded first: {why.partition(': ')[0]}", _LESS_DATA)


def judge_gpu_there(found: Judgement) -> Judgement:
    """Drivers and toolkits of the instance are not the user's."""
    if found.severity is not Readiness.WARNING:
        return found
    return warning(
        found.sentence, "With GPUs: run the space on an instance type that has them. Without: smlocal run --allow-cpu"
    )


def judge_storage_there(place: Place) -> Judgement:
    """As below."""
    return unknown(f"{place.name} does not tell its storage driver")


def judge_cgroup_there(place: Place) -> Judgement:
    """The engine does not tell."""
    return unknown(f"{place.name} does not tell whether memory and CPUs can be limited (EnforceInstanceLimits)")
