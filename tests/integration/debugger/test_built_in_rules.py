"""Every built-in rule on models that are really trained: sick ones, at a known step, and healthy ones."""

import json
from pathlib import Path

from tests.integration.debugger.rule_environment import configuration, evaluate_all, train

SICK: list[tuple[str, str, dict[str, str], int]] = [
    ("AllZero", "dead", {"tensor_regex": "relu_output"}, 3),
    ("CheckInputImages", "dark-images", {"threshold_samples": "64"}, 1),
    ("CheckInputImages", "loud-images", {"threshold_samples": "64", "threshold_variance": "0.5"}, 1),
    ("ClassImbalance", "imbalance", {"threshold_imbalance": "2", "samples": "64"}, 4),
    ("ClassImbalance", "one-class", {"samples": "64"}, 1),
    ("Confusion", "noise", {}, 0),
    ("Confusion", "one-class", {}, 0),
    ("DeadRelu", "dead", {}, 3),
    ("DeadRelu", "dead", {"num_steps": "3"}, 5),
    ("ExplodingTensor", "exploding", {}, 4),
    ("ExplodingTensor", "exploding", {"only_nan": "True"}, 4),
    ("ExplodingTensor", "healthy", {"collection_names": "losses", "max_threshold": "1"}, 0),
    ("FeatureImportanceOverweight", "trees", {}, 0),
    ("LossNotDecreasing", "flat", {"num_steps": "2"}, 6),
    ("LossNotDecreasing", "underfit", {"num_steps": "2", "underfitting": "True"}, 5),
    ("LossNotDecreasing", "overfit", {"num_steps": "2"}, 9),
    ("NLPSequenceRatio", "padding", {}, 3),
    ("Overfit", "overfit", {}, 7),
    ("Overfit", "overfit", {"patience": "2"}, 9),
    ("Overfit", "noise", {}, 0),
    ("Overtraining", "flat", {"patience_train": "2"}, 5),
    ("Overtraining", "overfit", {"patience_train": "20", "patience_validation": "2"}, 9),
    ("PoorWeightInitialization", "poor", {}, 0),
    ("PoorWeightInitialization", "tiny", {"threshold": "1e9"}, 0),
    ("PoorWeightInitialization", "flat", {"patience": "2"}, 5),
    ("SaturatedActivation", "tanh", {}, 3),
    ("SaturatedActivation", "sigmoid", {"threshold_sigmoid_min": "-5", "threshold_sigmoid_max": "5"}, 3),
    ("SaturatedActivation", "deep-sigmoid", {}, 3),
    ("SimilarAcrossRuns", "flat", {}, 4),
    ("StalledTrainingRule", "stalled", {"threshold": "0.1"}, 19),
    ("TensorVariance", "constant", {"collection_names": "weights", "min_threshold": "1e-5"}, 3),
    ("TreeDepth", "noise", {}, 0),
    ("UnchangedTensor", "dead", {"tensor_regex": "relu_output"}, 5),
    ("UnchangedTensor", "flat", {"collection_names": "losses"}, 5),
    ("VanishingGradient", "dead", {}, 3),
    ("VanishingGradient", "reductions", {}, 3),
    ("VanishingGradient", "healthy", {"statistics": "min", "threshold": "0.1"}, 0),
    ("WeightUpdateRatio", "dead", {}, 4),
    ("WeightUpdateRatio", "large-updates", {}, 4),
    ("WeightUpdateRatio", "healthy", {"compare_with": "gradients", "small_threshold": "0.2"}, 2),
]
"""Rule, run, parameters, and the step at which the condition is met. Sick runs change at step 3."""

HEALTHY: list[tuple[str, str, dict[str, str]]] = [
    ("AllZero", "healthy", {"collection_names": "weights"}),
    ("CheckInputImages", "images", {"threshold_samples": "64", "threshold_variance": "0.5"}),
    ("CheckInputImages", "loud-images", {"threshold_samples": "64"}),
    ("ClassImbalance", "classes", {"samples": "64"}),
    ("ClassImbalance", "trees", {}),
    ("Confusion", "trees", {}),
    ("DeadRelu", "healthy", {}),
    ("ExplodingTensor", "healthy", {}),
    ("FeatureImportanceOverweight", "many-features", {}),
    ("LossNotDecreasing", "healthy", {"num_steps": "2"}),
    ("LossNotDecreasing", "overfit", {"num_steps": "2", "underfitting": "True"}),
    ("LossNotDecreasing", "trees", {"num_steps": "1"}),
    ("NLPSequenceRatio", "sequences", {}),
    ("Overfit", "healthy", {}),
    ("Overfit", "trees", {}),
    ("Overtraining", "healthy", {"patience_train": "2", "patience_validation": "2"}),
    ("PoorWeightInitialization", "deep", {}),
    ("SaturatedActivation", "healthy", {}),
    ("SaturatedActivation", "sigmoid", {}),
    ("SimilarAcrossRuns", "steady", {}),
    ("StalledTrainingRule", "healthy", {"threshold": "0.1"}),
    ("TensorVariance", "healthy", {"collection_names": "weights", "min_threshold": "1e-5", "max_threshold": "10"}),
    ("TreeDepth", "trees", {}),
    ("UnchangedTensor", "healthy", {"collection_names": "losses"}),
    ("VanishingGradient", "healthy", {}),
    ("WeightUpdateRatio", "healthy", {}),
    ("WeightUpdateRatio", "healthy", {"compare_with": "gradients"}),
]
NOTHING_JUDGED: list[tuple[str, str, dict[str, str]]] = [
    ("ClassImbalance", "healthy", {}),  # no classifier
    ("DeadRelu", "trees", {}),
    ("ExplodingTensor", "noise", {"tensor_regex": "trees/(Category|Feature|ID)"}),  # texts, among them `nan`
    ("TensorVariance", "healthy", {}),  # no limits
]


def test_sick_runs_are_found_at_their_step_and_healthy_ones_are_not(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    train("train_runs.py", runs)
    asked = {}
    expected = {}

    def ask(rule: str, run: str, parameters: dict[str, str], *expectation: object) -> None:
        others = [runs / "steady"] if rule == "SimilarAcrossRuns" else []
        name = f"{rule} {run} {json.dumps(parameters)}"
        given = {"rule_to_invoke": rule, **parameters}
        asked[name] = configuration(given, tensors=runs / run, result=tmp_path, others=others)
        expected[name] = expectation

    for rule, run, parameters, step in SICK:
        met = f"Evaluation of the rule {rule} at step {step} resulted in the condition being met"
        ask(rule, run, parameters, "IssuesFound", f"RuleEvaluationConditionMet: {met}\n", step, True)
    for rule, run, parameters in HEALTHY:
        ask(rule, run, parameters, "NoIssuesFound", "", None, False)
    for rule, run, parameters in NOTHING_JUDGED:
        nothing = f"{rule} found no tensors that it judges: the job saved none of that name or in that collection."
        ask(rule, run, parameters, "NoIssuesFound", nothing, None, False)

    (tmp_path / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    evaluate_all(tmp_path / "asked.json", tmp_path / "found.json")
    found = {
        name: (
            outcome["Status"],
            outcome["StatusDetails"],
            outcome["Step"] if outcome["Status"] == "IssuesFound" else None,
            "Reason" in outcome,
        )
        for name, outcome in json.loads((tmp_path / "found.json").read_text(encoding="utf-8")).items()
    }
    assert found == expected
