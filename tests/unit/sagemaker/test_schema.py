import json
import re
from typing import Any

import pytest

from smlocal.api.request_tables import job_file_schema
from smlocal.jobfile.settings import Fault, LocalSettings
from smlocal.sagemaker.contract.coverage.members import TABLE
from smlocal.sagemaker.jobfile.job_file import READING
from smlocal.sagemaker.jobfile.request_reading import FAULT_KINDS
from smlocal.sagemaker.requests import REQUESTS
from smlocal.terms.model.structure import members


def resolve(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    reference = part.get("$ref")
    return schema["$defs"][reference.removeprefix("#/$defs/")] if reference else part


def test_every_member_is_there_with_what_becomes_of_it() -> None:
    schema = job_file_schema("CreateTrainingJob")
    for name, row in TABLE.items():
        place = found = schema
        for step in name.split("."):
            found = place["properties"][step.removesuffix("[]")]
            place = resolve(schema, found["items"] if step.endswith("[]") else found)
        assert found["description"] == f"{row.support}: {row.note}", name


def test_requirements_are_those_of_a_local_job() -> None:
    schema = job_file_schema("CreateTrainingJob")
    assert sorted(schema["required"]) == ["AlgorithmSpecification", "OutputDataConfig", "ResourceConfig"]
    assert schema["additionalProperties"] is False
    uri = schema["$defs"]["S3DataSource"]["properties"]["S3Uri"]
    assert "pattern" not in uri
    assert uri["maxLength"] == 1024


def test_constraints_are_there() -> None:
    schema = job_file_schema("CreateTrainingJob")
    name = schema["properties"]["TrainingJobName"]
    assert name["pattern"] == "^(?:[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62})$"
    assert (name["minLength"], name["maxLength"], name["type"]) == (1, 63, "string")
    assert len(schema["$defs"]["ResourceConfig"]["properties"]["InstanceType"]["enum"]) > 200
    runtime = schema["$defs"]["StoppingCondition"]["properties"]["MaxRuntimeInSeconds"]
    assert runtime["minimum"] == 1


def test_local_settings_are_described() -> None:
    local = job_file_schema("CreateTrainingJob")["properties"]["Local"]
    assert set(local["properties"]) == set(members(LocalSettings)) - set(READING.REFUSED)
    fault = job_file_schema("CreateTrainingJob")["$defs"]["Fault"]["properties"]
    assert fault["Kind"]["enum"] == [*FAULT_KINDS]
    assert set(fault) == set(members(Fault)) - {"Replica"}
    assert all(part["description"] for part in local["properties"].values())
    assert local["properties"]["PeerGraceSeconds"] | {"description": ""} == {
        "default": 10,
        "description": "",
        "maximum": 120,
        "minimum": 0,
        "type": "integer",
    }


def test_nothing_speaks_of_null() -> None:
    assert "null" not in str(job_file_schema("CreateTrainingJob")["properties"]).replace("(null)", "")


@pytest.mark.parametrize("name", REQUESTS)
def test_a_schema_has_every_definition_that_it_refers_to(name: str) -> None:
    schema = job_file_schema(name)
    referred = set(re.findall(r"#/\$defs/(\w+)", json.dumps(schema)))
    assert referred == set(schema["$defs"])
