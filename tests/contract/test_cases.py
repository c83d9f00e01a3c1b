"""Every folder of `cases/`: build its image, run its job file, hold what `expect.yaml` says.

`expect.yaml` is an `Expectation`, below. Beside it, always: one JSON document on stdout, nothing left on the engine or
mounted, and not a byte changed in what the user gave.
"""

import hashlib
import json
import re
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from tests.kit import Run

CASES = Path(__file__).with_name("cases")
NAMES = sorted(path.parent.name for path in CASES.glob("*/expect.yaml"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """The expected state afterwards; members that are missing are not looked at, apart from the first three."""

    exit: int
    status: str
    transitions: list[str]
    """SecondaryStatusTransitions; the last one is the SecondaryStatus."""
    image: str | None = None
    """A folder of `images/`; the case's own `image/` when not given."""
    flags: tuple[str, ...] = ()
    reason: str | None = None
    reason_matches: str | None = None
    reason_length: int | None = None
    exit_codes: dict[str, int | None] | None = None
    """Exit code of each host."""
    model: list[str] | None = None
    """Members of model.tar.gz in order: `file`, `folder/`, `link -> target`. An empty list: there is no archive."""
    output: list[str] | None = None
    """The same for output.tar.gz."""
    model_text: dict[str, str] | None = None
    model_folder: dict[str, str] | None = None
    """Files of `output/model/`, where CompressionType is NONE."""
    artifact_notes: list[str] | None = None
    """The expected notes about the artifacts."""
    log: str | None = None
    """The whole log of algo-1."""
    log_has: tuple[str, ...] = ()
    log_lacks: tuple[str, ...] = ()


def digests(folder: Path) -> dict[str, str]:
    """Content, kind and mode of everything below a folder, apart from results."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.split("/", maxsplit=1)[0] == "out":
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[name] = f"{path.lstat().st_mode:o} {path.is_symlink()} {content}"
    return found


def member(entry: tarfile.TarInfo) -> str:
    if entry.issym() or entry.islnk():
        return f"{entry.name} -> {entry.linkname}"
    return f"{entry.name}/" if entry.isdir() else entry.name


def members(archive: Path) -> list[str]:
    if not archive.exists():
        return []
    with tarfile.open(archive) as tar:
        found = [member(entry) for entry in tar]
    # An archive that is there holds something: an empty one would look like none.
    assert found
    return found


def text_of(archive: Path, name: str) -> str:
    with tarfile.open(archive) as tar:
        file = tar.extractfile(name)
        assert file is not None
        return file.read().decode()


@pytest.mark.parametrize("case", NAMES)
def test_case(
    case: str,
    tmp_path: Path,
    image: Callable[[str | Path], str],
    smlocal_run: Run,
    assert_nothing_left: Callable[[str], None],
) -> None:
    hold_case(case, tmp_path, image, smlocal_run, assert_nothing_left)


def hold_case(
    case: str,
    tmp_path: Path,
    image: Callable[[str | Path], str],
    smlocal_run: Run,
    assert_nothing_left: Callable[[str], None],
    *flags: str,
) -> dict[str, Any]:
    """Run one case and hold what it expects; returns what describe says."""
    source = CASES / case
    expected = Expectation(**yaml.safe_load((source / "expect.yaml").read_text()))
    tag = image(expected.image or source / "image")
    folder = tmp_path / case
    shutil.copytree(source, folder, symlinks=True)
    before = digests(folder)

    done = smlocal_run("run", "job.yaml", "--json", "--image", tag, *expected.flags, *flags, cwd=folder)

    assert done.returncode == expected.exit, done.stderr
    answer = json.loads(done.stdout)
    assert_outcome(answer, expected)
    assert_artifacts(folder / "out" / answer["TrainingJobName"] / "output", expected)
    assert_logs(answer["Local"]["Hosts"], expected)
    assert digests(folder) == before
    assert_nothing_left(answer["TrainingJobName"])
    return cast("dict[str, Any]", answer)


def assert_outcome(answer: dict[str, Any], expected: Expectation) -> None:
    reason = answer.get("FailureReason", "")
    assert answer["TrainingJobStatus"] == expected.status, reason
    transitions = answer["SecondaryStatusTransitions"]
    assert [each["Status"] for each in transitions] == expected.transitions
    assert answer["SecondaryStatus"] == expected.transitions[-1]
    if expected.reason is not None:
        assert reason == expected.reason
    if expected.reason_matches is not None:
        assert re.fullmatch(expected.reason_matches, reason, re.DOTALL), reason
    if expected.reason_length is not None:
        assert len(reason) == expected.reason_length
    if expected.status != "Failed":
        assert "FailureReason" not in answer
    if expected.artifact_notes is not None:
        assert answer["Local"]["Artifacts"]["Notes"] == expected.artifact_notes
    if expected.exit_codes is not None:
        assert {host["Name"]: host["ExitCode"] for host in answer["Local"]["Hosts"]} == expected.exit_codes


def assert_artifacts(output: Path, expected: Expectation) -> None:
    if expected.model is not None:
        assert members(output / "model.tar.gz") == expected.model
    if expected.output is not None:
        assert members(output / "output.tar.gz") == expected.output
    for name, text in (expected.model_text or {}).items():
        assert text_of(output / "model.tar.gz", name) == text
    if expected.model_folder is not None:
        folder = output / "model"
        files = (path for path in folder.rglob("*") if path.is_file())
        assert {str(path.relative_to(folder)): path.read_text() for path in files} == expected.model_folder
        assert not (output / "model.tar.gz").exists()


def assert_logs(hosts: list[dict[str, Any]], expected: Expectation) -> None:
    files = {host["Name"]: Path(host["Log"]) for host in hosts if host["Log"]}
    # A container that never started wrote nothing.
    logs = {host: file.read_text(errors="replace") for host, file in files.items() if file.exists()}
    if expected.log is not None:
        assert logs["algo-1"] == expected.log
    everything = "\n".join(logs.values())
    for wanted in expected.log_has:
        assert wanted in everything
    for unwanted in expected.log_lacks:
        assert unwanted not in everything


def test_there_are_cases() -> None:
    # An empty folder would make every test above vanish without a word.
    assert len(NAMES) > 30
