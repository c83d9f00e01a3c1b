"""What the SDKs write in definitions is read without a mistake."""

import json

import pytest
from tests.clients.conftest import User

from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.pipelines.reading import read_definition


@pytest.mark.slow(8)
def test_definitions_of_sdk_3(user: User) -> None:
    done = user.execute("sdk-3", "sdk3_definitions.py")
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    definitions = {name: each for line in lines for name, each in json.loads(line).items()}
    found: dict[str, set[str]] = {}
    for name, given in definitions.items():
        document = load_document(json.dumps(given, indent=1), name=name, directory="/")
        read = read_definition(document, runs_here=False)
        found[name] = {step.type.name for step in read.steps.values()}
    assert found == {
        "conditions": {"Callback", "Condition", "Fail", "Lambda"},
        "names": {"Callback"},
        "items": {"ForEach", "Lambda"},
        "endpoints": {"EndpointConfig", "Endpoint"},
        "elsewhere": {"EMR", "EMRServerless", "Lineage", "Callback", "Cleanup"},
    }
