"""Each kind of job has what `jobs.kinds` asks of it. mypy holds that its classes have what has no default."""

import ast
from dataclasses import fields
from importlib import import_module
from inspect import getsource
from pathlib import Path
from textwrap import dedent

import pytest

from smlocal.jobs.container_supervisor import ContainerSupervisor
from smlocal.jobs.kind import FOLDERS as KINDS
from smlocal.jobs.kinds import Preparing, Running, Showing, preparing, running, showing
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


def test_what_leads_jobs_has_no_containers_to_pretend() -> None:
    leaders = {"sagemaker_tuning", "sagemaker_pipeline"}
    for kind in leaders:
        found = supervisor_of(kind)
        assert not issubclass(found, ContainerSupervisor)
        assert not {"attempt", "metrics", "results", "credentials"} & {each.name for each in fields(found)}
    assert all(issubclass(supervisor_of(kind), ContainerSupervisor) for kind in set(KINDS) - leaders)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_replaces_and_calls_only_what_its_base_offers(kind: str) -> None:
    own, *bases = supervisor_of(kind).__mro__
    if own is ContainerSupervisor:
        return
    private = {name for base in bases for name in vars(base) if name.startswith("_") and not name.startswith("__")}
    used = {
        each.attr
        for each in ast.walk(ast.parse(dedent(getsource(own))))
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)
    }
    assert not private & (used | set(vars(own)))


def test_the_hooks_are_those_that_the_docstrings_list() -> None:
    """What kinds replace is there, and stands in one place."""
    listed = f"{Supervisor.__doc__}{ContainerSupervisor.__doc__}"
    for kind in KINDS:
        own, *bases = supervisor_of(kind).__mro__
        general = {name for base in bases if base in {Supervisor, ContainerSupervisor} for name in vars(base)}
        replaced = {name for name in vars(own) if name in general and callable(getattr(own, name, None))}
        if own is not ContainerSupervisor:
            assert not [name for name in replaced if not name.startswith("_") and f"`{name}`" not in listed]
