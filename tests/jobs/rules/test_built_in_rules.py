"""Models that are really trained: every built-in rule on sick ones, at a known step, and on healthy ones; and all their
tensors, by the reader of the debugger's library and by ours.
"""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from tests.jobs.rules.rule_environment import configuration, evaluate_all, read_tensors, train

from smlocal.debugger.tensors.saved_tensors import read_values, saved_tensors
from smlocal.debugger.tensors.tensor import Tensor, npy_type

SICK: list[tuple[str, str, dict[str, str], int]] = [
    ("AllZero", "dead", {"tensor_regex": "relu_output"}, 3),
    ("CheckInputImages", "dark-images", {"threshold_samples": "64"}, 1),
    ("CheckInputImages", "loud-images", {"threshold_samples": "64", "threshold_variance": "0.5"}, 1),
    ("ClassImbalance", "imbalance", {"threshold_imbalance": "2", "samples": "64"}, 4),
    ("ClassImbalance", "one-class", {"samples": "64"}, 1),
    ("Confusion", "noise", {}, 0),
    ("Confusion", "one-class", {"start_step": "0"}, 0),
    ("Confusion", "one-class", {"start_step": "2"}, 2),
    ("DeadRelu", "dead", {}, 3),
    ("DeadRelu", "dead", {"num_steps": "3"}, 5),
    ("ExplodingTensor", "exploding", {}, 4),
    ("ExplodingTensor", "exploding", {"only_nan": "True"}, 4),
    ("ExplodingTensor", "healthy", {"collection_names": "losses", "max_threshold": "1"}, 0),
    ("FeatureImportanceOverweight", "trees", {}, 0),
    ("LossNotDecreasing", "flat", {"num_steps": "1", "window": "5", "settled_percent": "inf"}, 6),
    ("LossNotDecreasing", "underfit", {"num_steps": "1", "underfitting": "True"}, 9),
    ("LossNotDecreasing", "overfit", {"num_steps": "1", "window": "5"}, 9),
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
    ("LossNotDecreasing", "healthy", {"num_steps": "1"}),
    ("LossNotDecreasing", "overfit", {"num_steps": "1", "window": "5", "underfitting": "True"}),
    ("LossNotDecreasing", "trees", {"num_steps": "1", "window": "3"}),
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
TOO_SHORT: list[tuple[str, str, dict[str, str], str]] = [
    ("Confusion", "one-class", {}, "from step 100 on (start_step), and the last step with predictions was 5."),
    ("LossNotDecreasing", "steady", {}, "after 10 looks of num_steps=10 steps, more if it is noisy, and has had 0: "),
]
"""Rule, run, parameters, and how the sentence about it goes on."""
NOTHING_JUDGED: list[tuple[str, str, dict[str, str]]] = [
    ("ClassImbalance", "healthy", {}),  # no classifier
    ("DeadRelu", "trees", {}),
    ("ExplodingTensor", "noise", {"tensor_regex": "trees/(Category|Feature|ID)"}),  # texts, among them `nan`
    ("TensorVariance", "healthy", {}),  # no limits
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each."""
    folder = tmp_path_factory.mktemp("trained") / "runs"
    train("train_runs.py", folder)
    return folder


@pytest.mark.large("tests/jobs/rules/requirements-of-rules.txt")
@pytest.mark.slow(9)
def test_sick_runs_are_found_at_their_step_and_healthy_ones_are_not(runs: Path, tmp_path: Path) -> None:
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

    begins = {"Confusion": "Confusion judges ", "LossNotDecreasing": "LossNotDecreasing judges a loss "}
    ends = {"LossNotDecreasing": "save losses more often, or give a smaller num_steps."}
    for rule, run, parameters, text in TOO_SHORT:
        ask(rule, run, parameters, "NoIssuesFound", begins[rule] + text + ends.get(rule, ""), None, False)

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


NOT_READ = {"int16", "uint16", "uint32", "uint64", "complex64"}
"""The data types that smdebug writes and cannot read. It reads no tensor without values, too."""


@pytest.mark.large("tests/jobs/rules/requirements-of-rules.txt")
@pytest.mark.slow(3)
def test_our_reader_reads_what_the_library_has_written_and_reads(runs: Path, tmp_path: Path) -> None:
    read_tensors(runs, tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    ours = {run.name: digests(run) for run in runs.iterdir()}
    assert ours["types"] == found["written"]
    theirs = found["read"]
    unread = {key.split()[0] for key, digest in theirs["types"].items() if digest is None}
    assert {name for name in unread if not name.startswith("empty/")} == NOT_READ
    for worker in ("worker_0", "worker_1"):
        kind, shape, digest = theirs["types"][f"int8 2000 {worker}"]
        assert kind == "|u1"  # the same bytes, without their signs
        theirs["types"][f"int8 2000 {worker}"] = ["|i1", shape, digest]
    readable = {key: digest for key, digest in theirs.pop("types").items() if digest is not None}
    assert readable.items() <= ours.pop("types").items()
    assert ours == theirs
    assert sum(map(len, theirs.values())) > 4000


def digests(folder: Path) -> dict[str, list[object]]:
    found = saved_tensors(str(folder))
    assert not found.damaged
    read: dict[str, list[object]] = {}
    for saved, tensor in read_values(str(folder), found.tensors):
        assert isinstance(tensor, Tensor), tensor
        kind, content = npy_type(tensor)
        read[f"{saved.name} {saved.step} {saved.worker}"] = [kind, [*tensor.shape], sha256(content).hexdigest()]
    return read
