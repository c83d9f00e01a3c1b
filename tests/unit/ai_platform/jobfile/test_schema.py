"""The JSON Schemas accept what a job file may say, and describe every member."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import fastjsonschema
import pytest

from smlocal.ai_platform.answer import snake_case
from smlocal.ai_platform.coverage import table
from smlocal.ai_platform.jobfile.job_file import ReplicaReading, read_job
from smlocal.ai_platform.jobfile.schema import job_file_schema
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.shape import job_kind
from smlocal.cli.main import run_command_line
from smlocal.jobfile.reading import load_document
from smlocal.jobfile.settings import Fault, LocalSettings
from smlocal.terms.model.structure import members as structure_members

Json = dict[str, Any]
POOL: Json = {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": "image"}}
TRAINING: Json = {"scaleTier": "BASIC", "masterConfig": {"imageUri": "image"}}


@cache
def _accepts(kind: ReplicaJobKind) -> Callable[[Json], bool]:
    # The library knows draft 7, which differs from 2020-12 in nothing that is used here.
    fits = fastjsonschema.compile({**job_file_schema(kind), "$schema": "http://json-schema.org/draft-07/schema#"})

    def accepts(document: Json) -> bool:
        try:
            fits(document)
        except fastjsonschema.JsonSchemaValueException:
            return False
        return True

    return accepts


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("kind", ReplicaJobKind)
def test_valid_job_files_fit_in_both_spellings(kind: ReplicaJobKind, training_job: Json, custom_job: Json) -> None:
    accepts = _accepts(kind)
    bare = {**custom_job["jobSpec"], "displayName": "census", "Local": {"Keep": "all"}}
    valid = [training_job] if kind is ReplicaJobKind.TRAINING_JOB else [custom_job, bare, {"workerPoolSpecs": [POOL]}]
    for document in [*valid, *({**snake_case(each), "Local": {}} for each in valid if "Local" not in each)]:
        read_job(load_document(json.dumps(document), name="job.json", directory="/"), strict=False)
        assert accepts(document), document


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "document",
    [
        {},
        {"trainingInput": {**TRAINING, "workerCuont": 2}},
        {"trainingInput": {**TRAINING, "workerCount": "two"}},
        {"trainingInput": {**TRAINING, "scaleTier": "BASICS"}},
        {"trainingInput": {**TRAINING, "scheduling": {"maxRunningTime": "3600"}}},
        {"trainingInput": {**TRAINING, "masterType": "n1-standard-5"}},
        {"trainingInput": TRAINING, "state": "RUNNING"},
        {"trainingInput": TRAINING, "Local": {"Sample": 3}},
        {"trainingInput": TRAINING, "Local": {"Faults": [{"Kind": "LateNames"}]}},
        {"jobSpec": {}},
        {"jobSpec": {"workerPoolSpecs": [{**POOL, "containerSpec": {}}]}},
        {"workerPoolSpecs": POOL},
        {"workerPoolSpecs": [POOL], "jobSpecs": {}},
        {"workerPoolSpecs": [{**POOL, "replicaCount": 1.5}]},
        {"workerPoolSpecs": [{**POOL, "containerSpec": {"imageUri": "image", "env": [{"name": "A"}]}}]},
    ],
)
def test_mistakes_do_not_fit(document: Json) -> None:
    kind = job_kind(document) if document else ReplicaJobKind.TRAINING_JOB
    assert not _accepts(kind)(document)


@pytest.mark.parametrize("kind", ReplicaJobKind)
def test_every_row_of_the_coverage_table_is_a_description(kind: ReplicaJobKind) -> None:
    schema = job_file_schema(kind)
    whole = schema if kind is ReplicaJobKind.TRAINING_JOB else schema["then"]
    for name, row in table(kind).items():
        place = found = whole
        for step in name.split("."):
            found = place["properties"][step.removesuffix("[]")]
            place = found["items"] if step.endswith("[]") else found
        assert found["description"] == f"{row.support}: {row.note}", name
        of_spec = name.removeprefix("jobSpec.")
        if of_spec != name:
            assert schema["else"]["properties"][of_spec.partition("[]")[0].partition(".")[0]]


@pytest.mark.parametrize("kind", ReplicaJobKind)
def test_local_settings_are_those_of_the_platform(kind: ReplicaJobKind) -> None:
    schema = job_file_schema(kind)
    local = schema["$defs"]["Local"]
    assert set(local["properties"]) == set(structure_members(LocalSettings)) - set(ReplicaReading.REFUSED)
    fault = schema["$defs"]["Fault"]["properties"]
    assert fault["Kind"]["enum"] == ["StockOut", "InternalError", "Maintenance"]
    assert set(fault) == set(structure_members(Fault)) - {"Instance"}


def test_the_command_prints_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ReplicaJobKind:
        assert run_command_line(["schema", "--of", kind.value]) == 0
        assert json.loads(capsys.readouterr().out) == job_file_schema(kind)
    assert run_command_line(["schema", "--of", "CreateTrainingJob"]) == 0
    named = capsys.readouterr().out
    assert run_command_line(["schema"]) == 0
    assert named == capsys.readouterr().out
