"""Which slow tests a commit needs: `scripts/test` runs those, and `scripts/test --all` every one.

All tests that are not marked `slow` always run, and a few slow ones that are named here. To these come slow ones of the
rooms that the commit touches, as far as they fit into half a minute, and one of 32 parts of all others, which the
number of the commit chooses. So the proof of a run depends only on the commit, and 32 commits later everything has run.

Those marked `large` need an image or an environment of 1 to 2 GB, with PyTorch or TensorFlow: they run if the commit
touches their own folder or what is tested there, else with `--all` alone. So do benchmarks, which need much of both.
"""

import json
import subprocess
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAST_WHOLE_RUN = ROOT / "tests" / "last-whole-run.json"
"""Written by `scripts/test --all` when it has passed."""
PARTS = 32
_MOST_SECONDS = 60.0
"""Processor time: half a minute of two cores."""
SLOW_SECONDS = 1.0
"""Below, a test marked `slow` is left out by `scripts/test --fast` only."""
_USUAL_SECONDS = 3.0
_GIT_SECONDS = 200
ALWAYS = (
    # Races and crashes, with small numbers.
    "test_a_stop_never_turns_into_a_failure",
    "test_killed_at_random_moments",
    "test_killed_at_any_moment",
    "test_who_sees_a_terminal_state_finds_nothing_left",
    "test_jobs_outlive_a_killed_server_and_the_next_one_starts_those_that_wait",
    # Two of the seven faults of an engine.
    "test_whatever_the_engine_does_at_any_call_the_job_ends[dies-False]",
    "test_whatever_the_engine_does_at_any_call_the_job_ends[hangs-False]",
    # The first commands of a user.
    "test_the_demo",
    "test_decision_tree",
    "test_a_healthy_image_passes_every_rule",
    "test_a_job_from_starting_to_completed",
    # One of each kind of client; boto3's tests are quick.
    "test_a_shell_script_runs_a_job_waits_for_it_and_reads_log_and_model[2-second_version]",
    "test_a_trainer_runs_the_users_code_and_resources_of_jobs_are_found_and_stopped",
    "test_a_job_is_uploaded_made_and_followed_to_its_end",
    # Other processes than the one that began the job.
    "test_another_supervisor_restarts_the_job_on_the_same_engines",
    "test_by_name_with_the_log_of_the_service_and_then_with_other_data",
    "test_what_follows_an_issue_and_a_stop_while_rules_read_on",
    "test_interruptions_by_the_clock",
)
"""Slow tests that run with each commit, by the names of their functions."""
_ALSO = {
    "jobs": ("in_jobs",),
    "planning": ("jobs",),
    "debugger": ("rules",),
    "endpoint": ("server", "clients"),
    "engine": ("engines", "swarm"),
    "service": ("remote", "remote_service"),
    "sources": ("s3",),
}
"""Rooms whose tests are not in folders of the same name alone."""


@dataclass(frozen=True, kw_only=True)
class Commit:
    """The tested commit."""

    number: int = 0
    places: frozenset[str] = frozenset()
    """Rooms, pages, examples and folders of tests that it touches."""
    importers: frozenset[str] = frozenset()
    """Rooms that may import one of these rooms."""


@dataclass(kw_only=True)
class Chosen:
    """The chosen slow tests, by their names."""

    always: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    part: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    seconds_left: float = 0


def choose(slow: Iterable[tuple[str, float]], commit: Commit, *, large: Collection[str] = ()) -> Chosen:
    """`slow`: names of tests with their seconds of processor time. A file whose tests run together is one.

    `large`: those of them that need much that a new machine does not have.
    """
    chosen = Chosen()
    budget = _MOST_SECONDS
    known = dict(slow)
    chosen.always = [name for name in known if {function_of(name), name.partition("::")[2]} & {*ALWAYS}]
    others = {name: seconds for name, seconds in known.items() if name not in chosen.always}
    part = _parts({name: seconds for name, seconds in others.items() if name not in large})[commit.number % PARTS]

    def order(test: tuple[str, float]) -> tuple[bool, int]:
        """Those of the rooms themselves first, and at each commit others."""
        return not _is_of(test[0], commit.places), _number_of(f"{commit.number} {test[0]}")

    for name, seconds in sorted(others.items(), key=order):
        if name in part:
            chosen.part.append(name)
        elif _is_touched(name, commit, large=name in large) and seconds <= budget:
            budget -= seconds
            chosen.touched.append(name)
        else:
            chosen.left.append(name)
            chosen.seconds_left += seconds
    return chosen


def _is_touched(test: str, commit: Commit, *, large: bool) -> bool:
    """A large one by the folder that it is in, not by a whole room: nearly each commit touches one of those."""
    if large:
        return _is_of(test.partition("/")[2].partition("/")[2], commit.places, whole=True)
    return _is_of(test, commit.places | commit.importers)


def function_of(test: str) -> str:
    """Its name, without parameters."""
    return test.partition("::")[2].partition("[")[0]


def _parts(slow: Mapping[str, float]) -> list[set[str]]:
    """All of about the same length, only by the names and the seconds."""
    parts: list[set[str]] = [set() for _ in range(PARTS)]
    lengths = [0.0] * PARTS
    for name, seconds in sorted(slow.items(), key=lambda each: (-each[1], _number_of(each[0]))):
        shortest = lengths.index(min(lengths))
        parts[shortest].add(name)
        lengths[shortest] += seconds
    return parts


def seconds_of(mark: pytest.Mark) -> float:
    """What `slow(12)` says; a test that takes little more than a quick one has no number."""
    return float(mark.args[0]) if mark.args else _USUAL_SECONDS


def this_commit() -> Commit:
    """The work tree's, with what is not committed yet, beside where its branch began, or else the commit before it."""
    if _git("rev-parse", "--verify", "HEAD~1") == "":
        return Commit()
    base = "HEAD~1"
    upstream = _git("merge-base", "HEAD", "@{upstream}")
    if upstream and upstream != _git("rev-parse", "HEAD"):
        base = upstream
    changed = [
        *_git("diff", "--name-only", base).splitlines(),
        *_git("ls-files", "-o", "--exclude-standard").splitlines(),
    ]
    places = touched_places(changed)
    return Commit(
        number=int(_git("rev-list", "--count", "HEAD") or 0), places=places, importers=_importers(places, may_import())
    )


def touched_places(files: Sequence[str]) -> frozenset[str]:
    """The rooms of changed files, as they occur in names of tests: a room by its last name."""
    places = set()
    rooms = may_import()
    for file in files:
        match file.split("/"):
            case ["src", "smlocal", *path]:
                room = _room(path, rooms)
                places |= {room, *_ALSO.get(room, ())}
            case ["tests", _, folder, *_, name]:
                places |= {folder, name.removesuffix(".py")}
            case ["tests", folder, name]:
                places |= {folder, name.removesuffix(".py")} - {"unit"}
            case ["scripts" | ".ci", *_]:
                places.add("test_image_script")
            case ["docs", page]:
                places.add(page)
            case ["examples", name, *_]:
                places.add(name)
    return frozenset(places)


def _room(path: Sequence[str], rooms: Mapping[str, set[str]]) -> str:
    """The last name of the room with the longest name that the path begins with; else its first part."""
    found = ("/".join(path[:length]) for length in range(len(path), 0, -1))
    return next((room for room in found if room in rooms), path[0].removesuffix(".py")).rpartition("/")[2]


def may_import() -> dict[str, set[str]]:
    """Of each room, in the order of the file, those that it may import."""
    table = tomllib.loads((ROOT / "tests" / "rooms.toml").read_text(encoding="utf-8"))
    return {room: set(allowed) for room, allowed in table.items()}


def last_whole_run() -> str:
    """When everything has passed the last time, in words."""
    try:
        last = json.loads(LAST_WHOLE_RUN.read_text(encoding="utf-8"))
    except OSError:
        return "scripts/test --all has not passed yet"
    since = _git("rev-list", "--count", f"{last['commit']}..HEAD")
    ago = f", {since} commits ago" if since else ""
    return f"scripts/test --all last passed on {last['commit'][:10]} ({last['date']}){ago}"


def _importers(places: frozenset[str], table: dict[str, set[str]]) -> frozenset[str]:
    return frozenset(
        room.rpartition("/")[2]
        for room, allowed in table.items()
        if places & {each.rpartition("/")[2] for each in allowed}
    )


def _is_of(test: str, places: frozenset[str], *, whole: bool = False) -> bool:
    """`whole`: all folders of the name count, not those below `tests` alone."""
    file, _, name = test.partition("::")
    parts = {part.removesuffix(".py") for part in file.split("/")[0 if whole else 1 :]}
    parts.add(function_of(test).removeprefix("test_"))  # of an example
    return bool(places & parts) or any(place in name for place in places if place.endswith(".md"))


def _number_of(text: str) -> int:
    return int(md5(text.encode(), usedforsecurity=False).hexdigest(), 16)


def _git(*arguments: str) -> str:
    """Empty where git has no answer: an archive of the sources, or a clone of one commit."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=_GIT_SECONDS
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
