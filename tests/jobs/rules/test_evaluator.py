"""The program that evaluates a rule: rules that users write, mistakes in them, and tensors that come while it runs."""

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.rules.rule_environment import (
    PROGRAMS,
    configuration,
    evaluate_all,
    evaluator_environment,
    rule_python,
    train,
)

from smlocal.debugger import job_rules
from smlocal.debugger.rule_container import sign_of_progress

SOURCE = PROGRAMS / "custom_rules.py"
_SECONDS = 120.0


class _Questions:
    """Rules to evaluate in one process, and what should come of each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self._asked: dict[str, Any] = {}
        self._expected: dict[str, tuple[str, str]] = {}

    def ask(self, name: str, parameters: Mapping[str, str], status: str, details: str = "", **more: Any) -> None:
        given = {"tensors": self.runs / "1", "source": SOURCE, **more}
        self._asked[name] = configuration(parameters, result=self.folder, **given)
        self._expected[name] = (status, details)

    def answer(self) -> None:
        asked, found = self.folder / "asked.json", self.folder / "found.json"
        asked.write_text(json.dumps(self._asked), encoding="utf-8")
        evaluate_all(asked, found)
        outcomes = {
            name: (outcome["Status"], self._beginning(name, outcome["StatusDetails"]))
            for name, outcome in json.loads(found.read_text(encoding="utf-8")).items()
        }
        assert outcomes == self._expected

    def _beginning(self, name: str, details: str) -> str:
        _, expected = self._expected[name]
        return details[: len(expected)] if expected else details


def met(rule: str, step: int) -> str:
    sentence = f"Evaluation of the rule {rule} at step {step} resulted in the condition being met"
    return f"RuleEvaluationConditionMet: {sentence}\n"


@pytest.mark.large("tests/jobs/rules/requirements-of-rules.txt")
@pytest.mark.slow(5)
def test_custom_rules_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    questions = _Questions(tmp_path)
    train("prune_network.py", questions.runs)
    prune(questions)
    ask_documented_forms(questions)
    ask_with_mistakes(questions)
    ask_of_damaged_files(questions)
    questions.answer()


def prune(questions: _Questions) -> None:
    """The story of the paper: accuracy drops after the eighth of ten iterations, and the ninth is ended."""
    accuracies = json.loads((questions.runs / "accuracies.json").read_text(encoding="utf-8"))
    for iteration in range(1, 10):
        before = str(accuracies[iteration - 1])
        parameters = {"rule_to_invoke": "AccuracyDrops", "previous_accuracy": before, "threshold": "0.1"}
        outcome = ("IssuesFound", met("AccuracyDrops", 60)) if iteration == 9 else ("NoIssuesFound", "")
        questions.ask(f"iteration {iteration}", parameters, *outcome, tensors=questions.runs / str(iteration))


def ask_documented_forms(questions: _Questions) -> None:
    ask, run = questions.ask, questions.runs / "1"
    ask("required", {"rule_to_invoke": "RequiresTensors", "limit": "1e-9"}, "IssuesFound", met("RequiresTensors", 0))
    ask("required, not met", {"rule_to_invoke": "RequiresTensors", "limit": "1e9"}, "NoIssuesFound")
    other = {"rule_to_invoke": "DiffersFromOthers", "tensor": "CrossEntropyLoss_input_0", "other_trial_0": "s3://a/b"}
    ask("the same run", other, "NoIssuesFound", others=[run])
    ask("another run", other, "IssuesFound", met("DiffersFromOthers", 0), others=[run, questions.runs / "2"])
    # The SDK writes a backslash before each quote. smdebug knows no such action, so nothing is done.
    action = '[{\\"Name\\": \\"Nothing\\", \\"training_job_prefix\\": \\"My-Job\\"}]'
    more = {"one": "1", "two": "2", "base_trial": "ignored", "action_json": action}
    ask("any argument", {"rule_to_invoke": "TakesAnything", **more}, "IssuesFound", met("TakesAnything", 0))
    ask("nothing there", {"rule_to_invoke": "Misses"}, "NoIssuesFound")


SOURCES: list[tuple[str, bytes, str]] = [
    ("rule.txt", b"no Python\n", "the source of the rule, rule.txt, is not a Python file."),
    (
        "syntax.py",
        b"x = 1\ndef invoke(:\n",
        "the source of the rule does not compile (syntax.py, line 2: invalid syntax).",
    ),
    ("binary.py", b"\0\xff\xfe", "the source of the rule does not compile (binary.py"),
    ("ends.py", b"import sys\nsys.exit('not today')\n", "the rule called exit('not today') (ends.py, line 2)"),
    ("imports.py", b"\nimport not_there\n", "ModuleNotFoundError: No module named 'not_there' (imports.py, line 2)"),
]
MISTAKES: list[tuple[dict[str, str], str]] = [
    (
        {"rule_to_invoke": "AccuracyDrop"},
        "UnknownRuleError: custom_rules.py has no rule AccuracyDrop. Did you mean AccuracyDrops? ",
    ),
    ({"rule_to_invoke": "LIMIT"}, "UnknownRuleError: custom_rules.py has no rule LIMIT."),
    ({}, "UnknownRuleError: RuleParameters of my-rule has no rule_to_invoke: "),
    (
        {"rule_to_invoke": "RequiresTensors", "limits": "1"},
        "ParameterError: RequiresTensors has no parameter limits. Did you mean limit? It has: limit.",
    ),
    ({"rule_to_invoke": "Raises", "when": "now"}, "SourceError: AssertionError: too early (custom_rules.py, line "),
    ({"rule_to_invoke": "Raises"}, "SourceError: ZeroDivisionError: division by zero (custom_rules.py, line "),
    ({"rule_to_invoke": "Exits"}, "SourceError: the rule called exit(3) (custom_rules.py, line "),
    (
        {"rule_to_invoke": "Misses", "action_json": "stop"},
        "ParameterError: action_json is not a JSON list of actions: stop",
    ),
]
MISTAKES_WITH_BUILT_IN_RULES: list[tuple[dict[str, str], str]] = [
    ({"rule_to_invoke": "DeadReLu"}, "UnknownRuleError: there is no built-in rule DeadReLu. Did you mean DeadRelu? "),
    (
        {"rule_to_invoke": "DeadRelu", "threshold_layer": "half"},
        "ParameterError: DeadRelu: threshold_layer is 'half', and must be a number.",
    ),
    (
        {"rule_to_invoke": "CreateXgboostReport"},
        "UnknownRuleError: smlocal records the built-in rule CreateXgboostReport and does not evaluate it.",
    ),
    ({"rule_to_invoke": "SimilarAcrossRuns"}, "ParameterError: SimilarAcrossRuns compares with another run: "),
    (
        {"rule_to_invoke": "AllZero", "collection_names": "wieghts"},
        "ParameterError: the trial has no collection wieghts. Did you mean weights? ",
    ),
]


def ask_with_mistakes(questions: _Questions) -> None:
    folder = questions.folder / "sources"
    folder.mkdir()
    missing = "SourceError: the source of the rule, {}, does not exist or is not a file."
    questions.ask(
        "no source", {"rule_to_invoke": "Mine"}, "Error", missing.format("gone.py"), source=folder / "gone.py"
    )
    questions.ask("a folder", {"rule_to_invoke": "Mine"}, "Error", missing.format("sources"), source=folder)
    for name, content, details in SOURCES:
        (folder / name).write_bytes(content)
        questions.ask(name, {"rule_to_invoke": "Mine"}, "Error", f"SourceError: {details}", source=folder / name)
    for parameters, details in MISTAKES:
        questions.ask(f"custom {parameters}", parameters, "Error", details)
    for parameters, details in MISTAKES_WITH_BUILT_IN_RULES:
        questions.ask(f"built in {parameters}", parameters, "Error", details, source=None)


EVENTS = "events/000000000030/000000000030_worker_0.tfevents"
INDEX = "index/000000000/000000000030_worker_0.json"
COLLECTIONS = "collections/000000000/worker_0_collections.json"
DAMAGED: list[tuple[str, str, Callable[[bytes], bytes], str]] = [
    ("cut", EVENTS, lambda content: content[: len(content) // 2], "the value of CrossEntropyLoss_input_"),
    ("garbage", EVENTS, lambda content: b"\xff" * len(content), "the value of CrossEntropyLoss_input_"),
    ("empty index", INDEX, lambda _content: b"", "the index file of step 30 in "),
    ("strange index", INDEX, lambda _content: b"[7]", "the index file of step 30 in "),
    ("collections", COLLECTIONS, lambda _content: b"{", "the collections of "),
]


def ask_of_damaged_files(questions: _Questions) -> None:
    rule = {"rule_to_invoke": "ExplodingTensor"}
    for name, file, damage, details in DAMAGED:
        folder = questions.folder / name
        shutil.copytree(questions.runs / "1", folder)
        (folder / file).write_bytes(damage((folder / file).read_bytes()))
        questions.ask(name, rule, "Error", f"TensorError: {details}", tensors=folder, source=None)
    empty = questions.folder / "empty"
    empty.mkdir()
    (empty / "training_job_end.ts").touch()
    questions.ask(
        "empty", rule, "Error", "MissingCollectionFiles: Training job has ended. ", tensors=empty, source=None
    )


@pytest.mark.large("tests/jobs/rules/requirements-of-rules.txt")
@pytest.mark.slow(4)
def test_tensors_that_come_while_it_runs_and_rules_that_do_not_end(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    train("write_scalars.py", whole, "9")
    with (
        _started(tmp_path / "follows", "Follows") as follows,
        _started(tmp_path / "ends", "RequiresTensors") as ends,
        _started(tmp_path / "prints", "Prints") as prints,
        _started(tmp_path / "dies", "Dies") as dies,
    ):
        for each in (follows, ends, prints, dies):
            each.wait_for_status("InProgress")
        began = follows.sign()
        # For the first step only, then for all.
        for each in (follows, ends, prints, dies):
            for part in ("collections/000000000", "events/000000000000"):
                shutil.copytree(whole / part, each.tensors / part)
            (each.tensors / "index" / "000000000").mkdir(parents=True)
            _publish(whole, each.tensors, 0)
        follows.wait_for(lambda: "saw 0\n" in follows.output())
        follows.wait_for(lambda: follows.sign() != began)  # whoever waits sees that it reads
        prints.wait_for(lambda: "working\n" in prints.output())
        assert follows.status() == ends.status() == prints.status() == "InProgress"
        assert dies.process.wait(_SECONDS) == 5
        assert dies.status() == "InProgress"

        prints.process.send_signal(signal.SIGTERM)
        assert prints.process.wait(_SECONDS) == 128 + signal.SIGTERM
        assert prints.status() == "InProgress"

        for step in range(1, 9):
            for each in (follows, ends):
                shutil.copytree(whole / f"events/{step:012}", each.tensors / f"events/{step:012}")
                _publish(whole, each.tensors, step)
        assert follows.process.wait(_SECONDS) == 0
        assert follows.document()["Status"] == "IssuesFound"
        assert follows.document()["Step"] == 7
        assert [line for line in follows.output().splitlines() if line.startswith("saw")] == [
            f"saw {n}" for n in range(8)
        ]
        assert ends.process.poll() is None
        (ends.tensors / "training_job_end.ts").touch()
        assert ends.process.wait(_SECONDS) == 0
        assert ends.document() == {"Status": "NoIssuesFound", "StatusDetails": "", "Step": 8}


@pytest.mark.large("tests/jobs/rules/requirements-of-rules.txt")
@pytest.mark.slow(3)
def test_the_hook_says_that_it_is_disabled_in_the_words_that_are_looked_for() -> None:
    program = "from smdebug.core.error_handling_agent import BASE_ERROR_MESSAGE; print(BASE_ERROR_MESSAGE)"
    said = subprocess.run([rule_python(), "-c", program], env=evaluator_environment(), capture_output=True, check=True)
    assert job_rules._SAYS in said.stdout


def _publish(whole: Path, into: Path, step: int) -> None:
    """The index file last, and by a move, as the hook does."""
    name = f"{step:012}_worker_0.json"
    draft = into / f"{name}.tmp"
    shutil.copy(whole / "index" / "000000000" / name, draft)
    draft.rename(into / "index" / "000000000" / name)


class _Evaluation:
    """One process, as the container of a rule has it."""

    def __init__(self, folder: Path, rule: str) -> None:
        self.tensors = folder / "tensors"
        self.tensors.mkdir(parents=True)
        self._result = folder / "result"
        self._result.mkdir()
        document = configuration({"rule_to_invoke": rule}, tensors=self.tensors, result=self._result, source=SOURCE)
        (folder / "rule.json").write_text(json.dumps(document), encoding="utf-8")
        self._output = folder / "output"
        with self._output.open("w", encoding="utf-8") as output:
            self.process = subprocess.Popen(
                [rule_python(), "-m", "smlocal_rules.evaluate", folder / "rule.json"],
                env=evaluator_environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def output(self) -> str:
        return self._output.read_text(encoding="utf-8")

    def document(self) -> Any:
        return json.loads((self._result / "status.json").read_text(encoding="utf-8"))

    def sign(self) -> tuple[int, ...]:
        return sign_of_progress(str(self._result))

    def status(self) -> str | None:
        try:
            return str(self.document()["Status"])
        except FileNotFoundError:
            return None

    def wait_for_status(self, status: str) -> None:
        self.wait_for(lambda: self.status() == status)

    def wait_for(self, happened: Callable[[], bool]) -> None:
        give_up = time.monotonic() + _SECONDS
        while not happened():
            assert self.process.poll() is None, self.output()
            assert time.monotonic() < give_up, self.output()
            time.sleep(0.05)


@contextmanager
def _started(folder: Path, rule: str) -> Iterator[_Evaluation]:
    evaluation = _Evaluation(folder, rule)
    try:
        yield evaluation
    finally:
        evaluation.process.kill()
        evaluation.process.wait()
