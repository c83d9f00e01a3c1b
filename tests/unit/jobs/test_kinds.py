"""Each kind of job has what `jobs.kinds` asks of it. mypy holds that its classes have what has no default."""

from importlib import import_module
from pathlib import Path

import pytest

from smlocal.jobs.kinds import KINDS, Preparing, Running, Showing, preparing, running, showing
from smlocal.jobs.supervision import supervisor_of
from smlocal.jobs.supervisor import Supervisor
from smlocal.terms.statuses import Failure, FailureKind


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_a_row_and_a_folder(kind: str) -> None:
    assert isinstance(preparing(kind), Preparing)
    assert isinstance(running(kind), Running)
    assert isinstance(showing(kind), Showing)
    assert issubclass(supervisor_of(kind), Supervisor)


@pytest.mark.parametrize("failure", FailureKind)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_a_reason_for_every_failure(kind: str, failure: FailureKind) -> None:
    assert running(kind).reason(Failure(kind=failure, message="why"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_words_for_its_list(kind: str) -> None:
    own = type(showing(kind))
    assert own.listed is not Showing.listed or (own.LIST and own.entry is not Showing.entry)


def test_a_kind_declines_by_default_and_not_by_functions() -> None:
    folders = [Path(str(import_module(each).__file__)).parent for each in KINDS.values()]
    files = [folder / f"{part}.py" for folder in folders for part in ("preparing", "running", "showing")]
    declining = [f"{file}: {line}" for file in files for line in file.read_text().splitlines() if "noqa: ARG" in line]
    assert len(declining) <= 2, declining  # of training: host names and a view, which say all without one argument
