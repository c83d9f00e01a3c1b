"""Names as public logs of the service have them."""

import pytest

from smlocal.sagemaker.pipelines.definition import Step
from smlocal.sagemaker.pipelines.names import display_name, execution_arn, made_name
from smlocal.sagemaker.pipelines.step_types import STEP_TYPES


@pytest.mark.parametrize(
    ("step", "kind", "name"),
    [
        ("EvaluateCustomModel", "Training", "pipelines-p1gtwhjm9dzt-EvaluateCustomModel-XEdt5h2gQC"),
        ("Rossmann-Model-Training", "Training", "pipelines-p1gtwhjm9dzt-Rossmann-Model-Train-XEdt5h2gQC"),
        ("a_b", "Model", "pipelines-p1gtwhjm9dzt-a-b-XEdt5h2gQC"),
        ("---", "Processing", "pipelines-p1gtwhjm9dzt-XEdt5h2gQC"),
        ("x" * 64, "Tuning", "p1gtwhjm9dzt-xxxxxxx-XEdt5h2gQC"),
    ],
)
def test_the_name_of_a_job(step: str, kind: str, name: str) -> None:
    made = Step(name=step, type=STEP_TYPES[kind], path=(), given={}, arguments={})
    found = made_name(made, execution_id="p1gtwhjm9dzt", suffix="XEdt5h2gQC")
    assert found == name
    assert len(found) <= (32 if kind == "Tuning" else 63)


def test_the_names_of_an_execution() -> None:
    arn = "arn:aws:sagemaker:us-east-1:123456789012:pipeline/p"
    assert execution_arn(arn, "abc") == f"{arn}/execution/abc"
    assert display_name(1_700_000_000_000) == "execution-1700000000000"
