from collections.abc import Callable

import pytest

from smlocal.jobs.planning.aspects.rules.plan import is_image_of_aws, rule_locations
from smlocal.jobs.planning.model import JobPlan

Planner = Callable[..., JobPlan]


@pytest.mark.parametrize(
    ("image", "theirs"),
    [
        ("895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules:latest", True),
        ("895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules", True),
        ("840043622174.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rule-evaluator:latest", True),
        ("host:5000/sagemaker-debugger-rules@sha256:0000", True),
        ("my-sagemaker-debugger-rules", False),
        ("sagemaker-debugger-rules-of-mine:1", False),
        ("sagemaker-debugger-rules/mine", False),
    ],
)
def test_images_of_aws(image: str, theirs: bool) -> None:
    assert is_image_of_aws(image) is theirs


def test_built_in_rules_that_smlocal_does_not_have(plan: Planner) -> None:
    names = ["VanishingGradien", "Nothing", "", "CreateXgboostReport", "VanishingGradient"]
    asked = [
        {
            "RuleConfigurationName": f"rule-{number}",
            "RuleEvaluatorImage": "895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules:latest",
            "RuleParameters": {"rule_to_invoke": name} if name else {},
        }
        for number, name in enumerate(names)
    ]
    rules = plan({"DebugRuleConfigurations": asked}).rules.each
    assert [rule.unknown for rule in rules] == [
        "there is no built-in rule VanishingGradien. Did you mean VanishingGradient?",
        "there is no built-in rule Nothing",
        "RuleParameters has no rule_to_invoke, the name of a rule",
        "",
        "",
    ]
    assert [rule.recorded for rule in rules] == ["", "", "", "CreateXgboostReport", ""]
    assert [rule.needs_evaluator for rule in rules] == [False, False, False, False, True]


def test_locations_of_a_rule() -> None:
    parameters = {
        "other_trial_10": "s3://b/ten",
        "other_trial_2": "s3://b/two",
        "other_trials": "no",
        "source_s3_uri": "s3://b/rule.py",
        "threshold": "1",
    }
    assert rule_locations(parameters) == ["s3://b/rule.py", "s3://b/two", "s3://b/ten"]
