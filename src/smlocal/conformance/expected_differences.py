"""Differences between two documents that say nothing about the contract, by rules. docs/conformance.md lists them."""

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What is left out, and why."""

    id: str
    why: str
    places: tuple[str, ...] = ()
    """Patterns of paths: what is there is not compared."""
    replaced: Callable[[str, Mapping[str, str]], str] | None = None
    """Changes a text, given the names of its job; two texts that are the same then are not different."""
    tolerance: float = 0.0
    """For `places`: numbers that are at most this far apart are the same."""

    def covers(self, path: str) -> bool:
        """True if the rule speaks of this place."""
        return any(fnmatchcase(path, pattern) for pattern in self.places)


def _without_job(text: str, names: Mapping[str, str]) -> str:
    for name in (names["job"], names["job"].lower()):
        text = text.replace(name, "<job>") if name else text
    return text


def _without_region(text: str, names: Mapping[str, str]) -> str:
    return text.replace(names["region"], "<region>") if names["region"] else text


def _without_hosts(text: str, _names: Mapping[str, str]) -> str:
    text = re.sub(r"\bip-\d+-\d+-\d+-\d+(\.[a-z0-9-]+)*\.internal\b", "<instance>", text)
    text = re.sub(r"\b[0-9a-f]{12}\b", "<container>", text)
    return re.sub(r"\b(?!127\.|169\.254\.|255\.|0\.)\d{1,3}(\.\d{1,3}){3}\b", "<address>", text)


def _without_locations(text: str, _names: Mapping[str, str]) -> str:
    return re.sub(r"\b(?:s3|file)://[^\s\"]*", "<location>", text)


def _without_masks(text: str, _names: Mapping[str, str]) -> str:
    return re.sub(r"\b0{12}\b|<account>", "<account>", text)


RULES = (
    Rule(
        id="times", why="How old files are, and how long something took", places=("*.AgeSeconds", "*.CameAfterSeconds")
    ),
    Rule(
        id="seconds-to-kill",
        why="Times of a stop that are less than two seconds apart",
        places=("Signals.SecondsToTheLastSignOfLife",),
        tolerance=2.0,
    ),
    Rule(
        id="machine",
        why="Kernel, processors, memory and disks of the machine, and the version of its control groups",
        places=(
            "Kernel.*",
            "Limits.Disks.*",
            "Limits.ControlGroup.Version",
            "Limits.ControlGroup.CpuSet",
            "Mounts./sys/fs/cgroup*",
        ),
    ),
    Rule(
        id="base-image",
        why="What comes from the base of the image",
        places=(
            "Python",
            "Environment.PATH",
            "Environment.LANG",
            "Environment.LC_CTYPE",
            "Environment.PYTHON*",
            "Environment.PIP_*",
            "Environment.GPG_KEY",
        ),
    ),
    Rule(
        id="sizes-with-names",
        why="Sizes of files that contain the name of the job or of a bucket",
        places=("Tree./opt/ml/input/config/*.Size", "Tree./opt/ml/input/data/*-manifest.Size"),
    ),
    Rule(
        id="order-of-hyperparameters",
        why="The service writes them in the order of a hash",
        places=("Config.hyperparameters.json.(order)",),
    ),
    Rule(id="job-name", why="The name of the job", replaced=_without_job),
    Rule(id="region", why="The region", replaced=_without_region),
    Rule(id="account", why="The account", replaced=_without_masks),
    Rule(id="host-names", why="Addresses, names of instances, ids of containers", replaced=_without_hosts),
    Rule(
        id="locations",
        why="Where objects are in S3, or files on this machine",
        places=("Manifests.*.(prefix)",),
        replaced=_without_locations,
    ),
)
