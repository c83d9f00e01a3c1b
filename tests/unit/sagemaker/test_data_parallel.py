from typing import Any

import pytest

from smlocal.jobs.planning.aspects.data_parallel.plan import DataParallelPlan
from smlocal.jobs.planning.recall import recall, remember
from smlocal.terms.data_parallel import data_parallel_trouble

ASKED = {"HyperParameters": {"sagemaker_distributed_dataparallel_enabled": "true"}}
DDP = {"HyperParameters": {"sagemaker_pytorch_ddp_enabled": "true"}}


@pytest.mark.parametrize(
    ("members", "choice", "expected"),
    [
        ({}, "auto", None),
        (ASKED, "auto", DataParallelPlan()),
        (DDP, "auto", DataParallelPlan()),
        ({"HyperParameters": {"sagemaker_distributed_dataparallel_enabled": "false"}}, "auto", None),
        # Values that are not JSON are text for the toolkit, and text is true.
        ({"HyperParameters": {"sagemaker_distributed_dataparallel_enabled": "True"}}, "auto", DataParallelPlan()),
        (ASKED, "never", None),
        ({}, "always", DataParallelPlan()),
        ({}, "strict", DataParallelPlan(strict=True)),
        ({}, {"Mode": "balanced"}, DataParallelPlan(mode="balanced")),
        (
            ASKED,
            {"Mode": "balanced", "FusionBufferBytes": 4096},
            DataParallelPlan(mode="balanced", fusion_buffer_bytes=4096),
        ),
    ],
)
def test_who_gets_the_stand_in(members: Any, choice: Any, expected: DataParallelPlan | None, plan: Any) -> None:
    made = plan(members, {"DataParallel": choice})
    assert made.data_parallel == expected
    for host in made.hosts:
        assert ("PYTHONPATH" in host.environment) == (expected is not None)
    # The stored parts of a plan are for a later supervisor.
    assert recall(remember(made)).data_parallel == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("auto", None),
        ("strict", None),
        ({"Mode": "plain"}, None),
        ({"Mode": "balanced", "FusionBufferBytes": 1}, None),
        ("alway", "did you mean always?"),
        (True, "must be auto, always"),
        ({}, "must be auto, always"),
        ([], "must be auto, always"),
        ({"mode": "balanced"}, "did you mean Mode?"),
        ({"Mode": "balance"}, "did you mean balanced?"),
        ({"Mode": "balanced", "FusionBufferBytes": 0}, "a number of bytes, 1 or more"),
        ({"Mode": "balanced", "FusionBufferBytes": True}, "a number of bytes, 1 or more"),
        ({"Mode": "balanced", "FusionBufferBytes": "25"}, "a number of bytes, 1 or more"),
        ({"FusionBufferBytes": 25}, "only Mode: balanced"),
    ],
)
def test_values_of_the_setting(value: Any, said: str | None) -> None:
    trouble = data_parallel_trouble(value)
    assert (trouble is None) == (said is None)
    assert said is None or said in str(trouble)
