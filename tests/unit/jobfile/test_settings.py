"""The one table of settings, and the signature for type checkers beside it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from smlocal.api.job_files import KINDS
from smlocal.api.overrides import Overrides, member_path
from smlocal.jobfile.option import LOCAL, Form, Option, Values
from smlocal.jobfile.settings import OPTIONS, SET_BY_CLIENTS, LocalSettings
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.contract.model.processing import CreateProcessingJobRequest
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.terms.model.structure import Structure, members

SOURCE = Path(__file__).resolve().parents[3] / "src" / "smlocal"
SIGNATURE: Mapping[str, Any] = get_type_hints(Overrides)


def kinds(annotation: Any) -> set[Any]:
    """The types of a keyword, without None."""
    parts = (annotation,) if get_origin(annotation) in (Literal, Mapping) else get_args(annotation) or (annotation,)
    return {get_origin(each) or each for each in parts} - {type(None)}


def words(annotation: Any) -> tuple[str, ...]:
    return next((get_args(each) for each in get_args(annotation) if get_origin(each) is Literal), ())


def test_the_signature_has_the_keywords_of_the_table() -> None:
    assert {*SIGNATURE} == {*OPTIONS}


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.keyword)
def test_the_signature_has_the_types_of_the_table(option: Option) -> None:
    types = kinds(SIGNATURE[option.keyword])
    paths = {str, os.PathLike}
    match option.form:
        case Form.TEXT:
            assert types <= {str, int, Literal}
            if option.choices:
                assert words(SIGNATURE[option.keyword]) == option.choices
        case Form.NUMBER:
            assert types == {int}
        case Form.SWITCH:
            assert types == {bool}
        case Form.PATH:
            assert types == paths
        case Form.LIST | Form.WORDS:
            assert types == {Sequence} or types == {get_origin(Sequence[str])}
        case Form.MAP:
            (mapping,) = (each for each in get_args(SIGNATURE[option.keyword]) if each is not type(None))
            key, value = get_args(mapping)
            assert key is str
            wanted = {Values.TEXT: {str}, Values.PLAIN: {str, float, bool}, Values.PATH: paths, Values.ANY: {Any}}
            assert kinds(value) == wanted[option.values]


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.keyword)
def test_what_is_set_is_a_member_of_the_request_or_of_local(option: Option) -> None:
    first, *rest = option.place or ("AlgorithmSpecification",)
    models: list[type[Structure]] = [CreateTrainingJobRequest, CreateProcessingJobRequest]
    if first == LOCAL:
        models, first = [LocalSettings], rest[0]
    assert any(first in members(model) for model in models)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.keyword)
def test_a_value_of_another_type_can_be_answered_with_an_example(option: Option) -> None:
    needed = option.form in {Form.PATH, Form.LIST, Form.WORDS, Form.MAP}
    assert bool(option.example) is needed
    assert option.example.startswith(f"{option.keyword}=" if needed else "")


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.keyword)
def test_a_flag_says_what_it_does(option: Option) -> None:
    assert option.help.endswith(".")
    assert option.metavar or option.choices or option.form is Form.SWITCH


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_refuses_settings_that_there_are(kind: Kind) -> None:
    assert set(kind.reads.REFUSED) < set(members(LocalSettings))
    assert set(kind.reads.PLACES) <= set(OPTIONS)
    assert set(kind.reads.DATA) <= set(kind.reads.PLACES)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_takes_the_options_of_settings_that_it_has(kind: Kind) -> None:
    for option in OPTIONS.values():
        if option.place[:1] == (LOCAL,):
            assert (kind.reads.place(option) is None) is (option.place[1] in kind.reads.REFUSED)


def test_no_client_sets_what_runs_commands_or_is_of_the_owner() -> None:
    """Clients of a server may set a new setting only if somebody says so."""
    assert {*members(LocalSettings)} - SET_BY_CLIENTS == {
        *("AllowedPaths", "AllowedBuckets", "Publish", "CacheGiB", "Credentials"),
        *("Engines", "Placement", "NetworkRange", "Endpoints", "Ulimits", "DataParallel", "Pull", "Keep"),
        *("SpreadOver", "EngineInstances"),
        *("ErrorDelaySeconds", "Rules", "OnRule", "Check", "Network", "Networks", "AddHosts", "DebugPort"),
    }


def test_no_setting_belongs_to_two_aspects() -> None:
    names = [name for aspect in LocalSettings.__bases__ for name in members(aspect)]
    assert len(names) == len({*names})
    assert {*names} | {"Check"} == {*members(LocalSettings)}


def test_nothing_else_declares_a_flag_of_the_table() -> None:
    """A command that has one of these flags takes it from the table; `serve` and `exec` have settings of their own."""
    own = {
        ("--output", "conformance.py"),
        ("--output", "pack.py"),
        ("--output", "pipeline.py"),
        ("--image", "check.py"),
    }
    own |= {("--image", "conformance.py"), ("--role", "conformance.py"), ("--instance-type", "conformance.py")}
    own |= {("--allow-cpu", "exec.py"), ("--allow-cpu", "serve.py")}
    own |= {("--engine", "serve.py"), ("--engine-instances", "serve.py")}
    own |= {("--image", "deploy.py"), ("--env", "deploy.py"), ("--name", "deploy.py"), ("--name", "models.py")}
    found = set()
    for path in (SOURCE / "cli").rglob("*.py"):
        said = path.read_text(encoding="utf-8").replace("\n", " ").replace("click.option", "click_option")
        for option in OPTIONS.values():
            if any(part.lstrip(" (").startswith(f'"{option.flag}"') for part in said.split("_option(")[1:]):
                found.add((option.flag, path.name))
    assert found == own


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("HyperParameters.a.b", ("HyperParameters", "a.b")),
        ("Environment.A.B", ("Environment", "A.B")),
        ("Local.Sources.s3://a/b.c", ("Local", "Sources", "s3://a/b.c")),
        ("Local.Endpoints.s3", ("Local", "Endpoints", "s3")),
        ("Local.OnRule.*", ("Local", "OnRule", "*")),
        ("InputDataConfig[0].InputMode", ("InputDataConfig", 0, "InputMode")),
    ],
)
def test_the_keys_of_maps_may_be_any_text(path: str, place: tuple[str | int, ...]) -> None:
    assert member_path(path) == place
