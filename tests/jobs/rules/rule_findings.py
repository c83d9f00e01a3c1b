"""The findings of each built-in rule in sick and healthy runs of many seeds: findings.md."""

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.jobs.rules.rule_environment import configuration, evaluate_all, train

FOUND = "IssuesFound"
FEWEST_SEEDS = 20
"""The fewest seeds of a table that is published."""
PAGE = Path(__file__).with_name("findings.md")
_HEAD = "<!-- Made by scripts/generate-debugger-findings; do not edit. -->\n\n"


@dataclass(frozen=True, kw_only=True)
class Question:
    """One rule on one kind of run."""

    rule: str
    run: str
    sick: bool
    what: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    other: str | None = None
    """The run that it is compared with."""
    certain: bool = True
    """Whether the rule is meant to be right each time."""

    def path(self, folder: Path, seed: int) -> Path:
        return folder / self.run / str(seed)


def _pairs(
    rule: str, sick: Mapping[str, str], healthy: Mapping[str, str], other: str | None = None, **parameters: str
) -> list[Question]:
    return [
        Question(rule=rule, run=run, sick=is_sick, what=what, parameters=parameters, other=other)
        for is_sick, runs in ((True, sick), (False, healthy))
        for run, what in runs.items()
    ]


_OF_LOSSES = "LossNotDecreasing"
_FLAT = {
    "rate 0": "learning rate of 0",
    "rate 0, long": "the same, saved every 10 of 1000 steps",
    "rate 0, small batches": "the same, a regression, batches of 8",
    "rate 0, epochs": "the same, means of epochs as Keras reports them",
    "rate 0, all data": "the same, all data at each step",
    "tiny rate": "learning rate of 0.000001",
    "dead network": "all units of its ReLU dead",
    "nothing to learn": "labels by chance, other ones at each step",
    "rises": "the loss rises",
    "rises slowly": "the loss rises slowly, batches of 8",
    "rises, epochs": "the loss rises, means of epochs",
    "falls, then rises": "the loss rises from step 100 on",
    "falls, then stops": "learning rate of 0 from step 50 on, all data at each step",
}
_FALLING = {
    "classifier": "a classifier",
    "long classifier": "the same, saved every 10 of 1000 steps",
    "slow classifier": "the same, a tenth of the learning rate",
    "regression": "a regression",
    "small batches": "the same, batches of 8",
    "all data": "a classifier, all data at each step",
    "epochs": "a classifier, means of epochs as Keras reports them",
    "short epochs": "the same, epochs of 20 steps",
    "epochs of a regression": "a regression, means of epochs",
}
_AT_THEIR_END = {
    "wrong labels": "a classifier that soon learns nothing more, since a fifth of the labels is wrong",
    "at its end": "a regression on all data, for 300 steps, of which 150 change nothing",
}
"""Nothing in such a loss tells it from one of a sick run."""
QUESTIONS = [
    *_pairs("AllZero", {"dead": "dead ReLU"}, {"network": "a network"}, tensor_regex="relu_output"),
    *_pairs("CheckInputImages", {"images from 0 to 1": "mean of 0.45"}, {"images": "mean of 0"}),
    *_pairs("ClassImbalance", {"one class rare": "30 of 1500 samples"}, {"balanced": "four equal classes"}),
    *_pairs("Confusion", {"two classes alike": "two of four classes alike"}, {"four classes": "four classes"}),
    *_pairs("DeadRelu", {"dead": "all units dead"}, {"network": "a network"}),
    *_pairs("ExplodingTensor", {"exploding": "learning rate of 1e38"}, {"network": "a network"}),
    *_pairs("FeatureImportanceOverweight", {"trees": "one of 12 features"}, {"many features": "all of 12 features"}),
    *_pairs(_OF_LOSSES, _FLAT, _FALLING),
    *(replace(each, certain=False) for each in _pairs(_OF_LOSSES, {}, _AT_THEIR_END)),
    *_pairs(
        _OF_LOSSES,
        {"rate 0, validated": "neither training nor validation falls"},
        {"validated": "both fall"},
        underfitting="True",
    ),
    *_pairs("NLPSequenceRatio", {"padded texts": "more than half is padding"}, {"texts": "less than a third"}),
    *_pairs("Overfit", {"learns by heart": "16 samples"}, {"learns": "10,000 samples"}),
    *_pairs("Overtraining", {"learns by heart": "far beyond the best validation"}, {"learns": "ends while it learns"}),
    *_pairs("PoorWeightInitialization", {"badly begun": "one layer 10 times too large"}, {"well begun": "Kaiming"}),
    *_pairs("SaturatedActivation", {"saturated": "inputs of tanh 10,000 times as large"}, {"network": "a network"}),
    *_pairs("SimilarAcrossRuns", {"another rate": "another rate"}, {"the same again": "the same again"}, "network"),
    *_pairs("StalledTrainingRule", {"no end": "no end"}, {"network": "an end"}, threshold="0.1"),
    *_pairs(
        "TensorVariance",
        {"constant weights": "weights all the same"},
        {"network": "a network"},
        collection_names="weights",
        min_threshold="1e-5",
    ),
    *_pairs("TreeDepth", {"deep trees": "depth of 8"}, {"trees": "depth of 3"}),
    *_pairs(
        "UnchangedTensor",
        {"rate 0 in the end": "learning rate of 0 from step 3 on"},
        {"network": "a network"},
        collection_names="losses",
    ),
    *_pairs("VanishingGradient", {"dead": "dead ReLU"}, {"network": "a network"}),
    *_pairs("WeightUpdateRatio", {"large updates": "learning rate of 10,000"}, {"network": "a network"}),
]


def findings(folder: Path, first: int, seeds: int) -> Counter[int]:
    """In how many runs each question's rule has found something, by the number of the question."""
    found: Counter[int] = Counter()
    for seed in range(first, first + seeds):
        runs = folder / "runs"
        train("train_seeds.py", runs, str(seed), "1")
        for number, outcome in _outcomes(folder, runs, seed).items():
            found[int(number)] += outcome == FOUND
        shutil.rmtree(runs)
    return found


def markdown(found: Mapping[int, int], first: int, seeds: int) -> str:
    """Both tables."""
    lines = [
        _HEAD + "# What the built-in rules of Debugger find\n",
        f"Seeds {first} to {first + seeds - 1}, {seeds} runs of each kind.\n",
        "| rule | sick runs | found | healthy runs | found |\n|---|---|---|---|---|",
    ]
    by_rule: dict[str, list[int]] = {}
    for number, question in enumerate(QUESTIONS):
        if question.certain:
            by_rule.setdefault(question.rule, []).append(number)
    for rule, numbers in by_rule.items():
        cells = (
            _cells([each for each in numbers if QUESTIONS[each].sick is sick], found, seeds) for sick in (True, False)
        )
        lines.append(f"| {rule} | {' | '.join(cells)} |")
    lines.append("\n| LossNotDecreasing: runs | | found |\n|---|---|---|")
    for number, question in enumerate(QUESTIONS):
        if question.rule == _OF_LOSSES:
            kind = "sick" if question.sick else "healthy" if question.certain else "not to be told apart"
            lines.append(f"| {question.what}{_given(question)} | {kind} | {found[number]} of {seeds} |")
    return "\n".join(lines) + "\n"


def _cells(numbers: list[int], found: Mapping[int, int], seeds: int) -> str:
    kinds = [QUESTIONS[number] for number in numbers]
    what = f"{len(kinds)} kinds, below" if len(kinds) > 1 else kinds[0].what + _given(kinds[0])
    return f"{what} | {sum(found[number] for number in numbers)} of {seeds * len(numbers)}"


def _given(question: Question) -> str:
    given = ", ".join(f"`{key}: {value}`" for key, value in question.parameters.items())
    return f" ({given})" if given else ""


def _outcomes(folder: Path, runs: Path, seed: int) -> dict[str, str]:
    asked = {}
    for number, question in enumerate(QUESTIONS):
        others = [runs / question.other / str(seed)] if question.other else []
        parameters = {"rule_to_invoke": question.rule, **question.parameters}
        asked[str(number)] = configuration(parameters, tensors=question.path(runs, seed), result=folder, others=others)
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    evaluate_all(folder / "asked.json", folder / "found.json")
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    wrong = {number: each for number, each in found.items() if each["Status"] not in {FOUND, "NoIssuesFound"}}
    assert not wrong, wrong
    silent = {number: each for number, each in found.items() if each["Status"] != FOUND and each["StatusDetails"]}
    assert not silent, silent  # a rule that judges nothing has found no healthy run
    return {number: each["Status"] for number, each in found.items()}
