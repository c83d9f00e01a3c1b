"""Stand-ins as they run: real processes, whose ends are seen where a FIFO that they hold loses its last writer."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smlocal.pipelines import guarded_program
from smlocal.pipelines.stand_in_run import StandInEnd, StandInInput, run_stand_in
from smlocal.sagemaker.pipelines.definition import Output, StandIn, Step
from smlocal.sagemaker.pipelines.step_types import STEP_TYPES

ARN = "arn:aws:lambda:eu-west-1:123456789012:function:score:7"
HANDLERS = """
import decimal, logging, os, subprocess, sys, threading, time
import beside

def good(event, context):
    print("heard", event["n"])
    logging.getLogger().setLevel("INFO")
    logging.info("logged")
    os.system("echo of a child")
    sys.stdout.flush()
    members = ["function_name", "function_version", "invoked_function_arn", "memory_limit_in_mb", "log_group_name"]
    left = context.get_remaining_time_in_millis()
    return {
        "code": 200, "n": decimal.Decimal(beside.NUMBER), "more": "unread",
        "text": " ".join(getattr(context, each) for each in members),
        "left": 0 < left <= 600000 and len(context.aws_request_id) == 36 and "[7]" in context.log_stream_name,
        "here": os.getcwd() + " " + os.environ["AWS_LAMBDA_FUNCTION_NAME"] + " " + os.environ["AWS_REGION"],
    }

class Of:
    @staticmethod
    def a_class(event, context):
        threading.Thread(target=time.sleep, args=(1000,)).start()
        return {"code": "x"}

def raises(event, context):
    raise KeyError("lost")

def nothing(event, context):
    pass

def text(event, context):
    return "done"

def unknown(event, context):
    return {"code": object()}

def surrogate(event, context):
    return {"code": chr(0xD800)}

def circular(event, context):
    found = {}
    found["code"] = found
    return found

def large(event, context):
    return {"code": "x" * 7_000_000}

def exits(event, context):
    sys.exit(3)

def dies(event, context):
    os.kill(os.getpid(), 9)

def closes(event, context):
    os.closerange(0, 1000)
    return {"code": "x"}

def endless(event, context):
    while True:
        pass

def holds(event, context):
    held = open(event["fifo"], "wb", buffering=0)
    subprocess.Popen(["sleep", "1000"], pass_fds=[held.fileno()])
    held.write(b"ready\\n")
    if event["stays"]:
        time.sleep(1000)
    return {"code": "x"}

def puts_aside(event, context):
    subprocess.Popen(["sh", "-c", event["text"]], start_new_session=True)
"""
CODE = (("code", "String"),)
ALL = (*CODE, ("n", "Integer"), ("text", "String"), ("left", "Boolean"), ("here", "String"))


def never() -> bool:
    return False


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., StandInEnd]:
    """Run a stand-in, in a folder with handlers."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    code = tmp_path / "code"
    code.mkdir()
    (code / "handlers.py").write_text(HANDLERS)
    (code / "beside.py").write_text("NUMBER = 5\n")
    (code / "imports.py").write_text("import no_such_module\n")
    (code / "wrong.py").write_text("def handler(\n")
    (code / "fails.py").write_text("raise OSError('no disk')\n")

    def run(
        stand_in: StandIn,
        *,
        kind: str = "Lambda",
        outputs: tuple[tuple[str, str], ...] = (),
        arguments: Any = None,
        stopped: Callable[[], bool] = never,
        killed: Callable[[], bool] = never,
        **more: Any,
    ) -> StandInEnd:
        given = StandInInput(
            step=made_step(kind, outputs),
            arguments={"n": 1.5} if arguments is None else arguments,
            function_arn=ARN,
            folder=str(tmp_path),
            log=str(tmp_path / "logs" / "step.log"),
            **more,
        )
        return run_stand_in(stand_in, given, stopped=stopped, killed=killed)

    return run


def made_step(kind: str, outputs: tuple[tuple[str, str], ...]) -> Step:
    declared = tuple(Output(name=name, kind=of) for name, of in outputs)
    return Step(name="Score", type=STEP_TYPES[kind], path=(), given={}, arguments={}, outputs=declared)


def handler(name: str, file: str = "handlers.py") -> StandIn:
    return StandIn(file=f"code/{file}", handler=name)


def shell(text: str) -> StandIn:
    return StandIn(command=("sh", "-c", text))


class Held:
    """Processes that hold a FIFO."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "held"
        os.mkfifo(self.path)
        self._file = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(self._file, True)
        self._keeps = os.open(self.path, os.O_WRONLY)

    def line(self) -> str:
        """The first one that they write."""
        data = b""
        while not data.endswith(b"\n"):
            data += os.read(self._file, 1)
        return data.decode().strip()

    def until_all_have_ended(self) -> None:
        os.close(self._keeps)
        while os.read(self._file, 100):
            pass
        os.close(self._file)


@pytest.fixture
def held(tmp_path: Path) -> Held:
    return Held(tmp_path)


@pytest.mark.slow(1)
def test_a_handler_is_called_as_lambda_does(run: Callable[..., StandInEnd], tmp_path: Path) -> None:
    end = run(handler("good"), outputs=ALL)
    assert (end.reason, end.stopped) == ("", False)
    assert end.outputs == {
        "code": "200",  # a number for text, as in AWS's own examples
        "n": 5,
        "text": f"score 7 {ARN} 128 /aws/lambda/score",
        "left": True,
        "here": f"{tmp_path}/code score eu-west-1",
    }
    first, logged, last = end.last_lines.splitlines()
    assert (first, logged.split("\t")[0], logged.split("\t")[-1], last) == (
        "heard 1.5",
        "[INFO]",
        "logged",
        "of a child",
    )
    assert (tmp_path / "logs" / "step.log").read_text() == end.last_lines
    assert run(handler("Of.a_class"), outputs=CODE).outputs == {"code": "x"}, "threads are not awaited"


FUNCTION = "The Lambda function score failed:"
UNMARSHALLED = f"{FUNCTION} Runtime.MarshalError: Unable to marshal response:"
NO_OBJECT = "The answer must be a JSON object with the outputs of the step, and is"
TOO_LARGE = "Response payload size exceeded maximum allowed payload size (6291556 bytes)."
FAILURES: list[tuple[str, str, str]] = [
    ("handlers.py", "raises", f"{FUNCTION} KeyError: 'lost'"),
    ("handlers.py", "nothing", f"{NO_OBJECT} null"),
    ("handlers.py", "text", f"{NO_OBJECT} a string"),
    ("handlers.py", "unknown", f"{UNMARSHALLED} Object of type object is not JSON serializable"),
    ("handlers.py", "surrogate", f"{UNMARSHALLED} 'utf-8' codec can't encode character"),
    ("handlers.py", "circular", f"{UNMARSHALLED} Circular reference detected"),
    ("handlers.py", "large", f"{FUNCTION} Function.ResponseSizeTooLarge: {TOO_LARGE}"),
    ("handlers.py", "exits", f"{FUNCTION} Runtime.ExitError: Runtime exited with error: exit status 3"),
    ("handlers.py", "dies", f"{FUNCTION} Runtime.ExitError: Runtime exited with error: signal: 9"),
    ("handlers.py", "closes", f"{FUNCTION} Runtime.ExitError: Runtime exited with error: exit status 1"),
    ("handlers.py", "endless", f"{FUNCTION} Task timed out after 0.20 seconds"),
    ("handlers.py", "other", f"{FUNCTION} Runtime.HandlerNotFound: Handler 'other' missing on module 'handlers'"),
    (
        "imports.py",
        "f",
        f"{FUNCTION} Runtime.ImportModuleError: Unable to import module 'imports': No module named 'no_",
    ),
    ("wrong.py", "f", f"{FUNCTION} Runtime.UserCodeSyntaxError: Syntax error in module 'wrong': '(' was never closed"),
    ("fails.py", "f", f"{FUNCTION} OSError: no disk"),
    ("none.py", "f", "The Lambda function score cannot be started: there is no file /"),
]


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize(("file", "name", "reason"), FAILURES, ids=[f"{each[0]}:{each[1]}" for each in FAILURES])
def test_a_handler_fails(run: Callable[..., StandInEnd], file: str, name: str, reason: str) -> None:
    end = run(handler(name, file), outputs=CODE, seconds=0.2 if name == "endless" else None)
    assert end.reason.startswith(reason)
    assert not end.outputs


def test_a_handler_without_outputs_need_not_answer(run: Callable[..., StandInEnd]) -> None:
    assert run(handler("nothing")) == StandInEnd()


COMMANDS: list[tuple[str, dict[str, Any], str]] = [
    ("cat", {"n": 1.5}, ""),
    ("pwd >&2; echo; echo", {}, ""),
    ("echo no JSON", {}, "The command sh must print a JSON object to its standard output: Expecting value: line 1"),
    ("echo '{\"a\": NaN}'", {}, "The command sh must print a JSON object to its standard output: NaN is not JSON"),
    ("printf '\"\\377\"'", {}, "The command sh must print a JSON object to its standard output: it is not valid UTF-8"),
    ("head -c 200000 /dev/zero | tr '\\0' [", {}, "The command sh must print a JSON object to its standard output: it"),
    ("echo '[1]'", {}, f"{NO_OBJECT} a list"),
    ("echo tried >&2; echo why >&2; exit 4", {}, "The command sh ended with exit code 4: why"),
    ("kill -9 $$", {}, "The command sh was killed by signal 9"),
    ("yes", {}, "The command sh answers more than 6,291,556 bytes"),
    ("sleep 1000", {}, "The command sh failed: Task timed out after 0.20 seconds"),
]


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize(("text", "outputs", "reason"), COMMANDS, ids=[each[0] for each in COMMANDS])
def test_a_command(run: Callable[..., StandInEnd], text: str, outputs: dict[str, Any], reason: str) -> None:
    end = run(shell(text), kind="EMR", seconds=0.2 if "sleep" in text else None)
    assert end.outputs == outputs
    assert end.reason.startswith(reason)
    assert bool(end.reason) == bool(reason)


def test_a_command_runs_in_the_folder_of_the_file(run: Callable[..., StandInEnd], tmp_path: Path) -> None:
    script = tmp_path / "step.sh"
    script.write_text('#!/bin/sh\necho "{\\"here\\": \\"$PWD $MORE\\"}"\n')
    stand_in = StandIn(command=("./step.sh",))
    assert run(stand_in, kind="EMR").reason == "The command ./step.sh cannot be started: Permission denied"
    script.chmod(0o755)
    assert run(stand_in, kind="EMR", variables={"MORE": "given"}).outputs == {"here": f"{tmp_path} given"}


ANSWERS: list[tuple[str, Any, Any]] = [
    ("String", "text", "text"),
    ("String", 200, "200"),
    ("String", True, "true"),
    ("String", "x" * 1_025, "The output 'out' has 1,025 characters; 1,024 are allowed"),
    ("String", ["x"], "The output 'out' is of type String, and the answer has a list"),
    ("String", None, "The output 'out' is of type String, and the answer has null"),
    ("Integer", 5, 5),
    ("Integer", "5", 5),
    ("Integer", 5.5, "The output 'out' is of type Integer, and the answer has a number"),
    ("Float", 5, 5),
    ("Boolean", "true", True),
    ("Boolean", 1, "The output 'out' is of type Boolean, and the answer has a number"),
]


@pytest.mark.parametrize(("kind", "value", "expected"), ANSWERS)
def test_outputs_are_of_their_types(run: Callable[..., StandInEnd], kind: str, value: Any, expected: Any) -> None:
    end = run(StandIn(outputs={"out": value, "other": 1}), outputs=(("out", kind),))
    failed = isinstance(expected, str) and expected.startswith("The output")
    assert (end.reason or end.outputs["out"]) == expected
    assert end.outputs == ({} if failed else {"out": expected})


def test_what_answers_without_a_program(run: Callable[..., StandInEnd]) -> None:
    assert run(StandIn(skip=True), outputs=CODE) == StandInEnd()
    assert run(StandIn(outputs={"Any": [1]}), kind="EMR").outputs == {"Any": [1]}
    assert run(StandIn(outputs={}), outputs=CODE).reason == "The answer has no output 'code'"


def test_a_long_log_is_cut_in_its_middle(run: Callable[..., StandInEnd], tmp_path: Path) -> None:
    text = "echo first >&2; head -c 200000000 /dev/zero >&2; echo; echo last >&2"
    assert run(shell(text), kind="EMR").last_lines.endswith("last\n")
    log = (tmp_path / "logs" / "step.log").read_bytes()
    assert log.startswith(b"first\n")
    assert log.endswith(b"last\n")
    kept = guarded_program.FIRST_OF_LOG + guarded_program.LAST_OF_LOG
    assert f"\n[smlocal: {200_000_011 - kept:,} bytes are left out here]\n".encode() in log
    assert len(log) < kept + 100


def test_a_reason_is_one_line_that_the_service_would_take(run: Callable[..., StandInEnd]) -> None:
    reason = run(shell("printf 'a\\tb\\0c%02000d' 1 >&2; exit 1"), kind="EMR").reason
    assert reason.startswith("The command sh ended with exit code 1: a b c000")
    assert len(reason) == 1_024


def test_children_of_a_handler_end_with_it(run: Callable[..., StandInEnd], held: Held) -> None:
    end = run(handler("holds"), outputs=CODE, arguments={"fifo": str(held.path), "stays": False})
    assert end.outputs == {"code": "x"}
    held.until_all_have_ended()


def test_what_has_a_session_of_its_own_goes_on(run: Callable[..., StandInEnd], held: Held, tmp_path: Path) -> None:
    waits = tmp_path / "waits"
    os.mkfifo(waits)
    text = f"read word <'{waits}'; echo $word >'{held.path}'"
    assert run(handler("puts_aside"), arguments={"text": text}) == StandInEnd()
    waits.write_text("later\n")
    assert held.line() == "later"


STOPS = 'trap "echo asked >&2; exit 7" TERM; touch ready; while :; do :; done'


@pytest.mark.parametrize(
    ("stand_in", "kind", "grace", "expected"),
    [
        (shell(STOPS), "EMR", 1_000, StandInEnd(stopped=True, last_lines="asked\n")),
        (shell(STOPS), "Lambda", 1_000, StandInEnd(stopped=True, last_lines="asked\n")),
        (shell('trap "" TERM; touch ready; sleep 1000'), "EMR", 0, StandInEnd(stopped=True)),
        (handler("holds"), "EMR", 1_000, StandInEnd(stopped=True)),
        (handler("nothing"), "Lambda", 0, StandInEnd()),
    ],
    ids=["asked", "a command for a Lambda", "killed", "a handler of another step", "a Lambda is awaited"],
)
def test_stopped(
    run: Callable[..., StandInEnd],
    held: Held,
    tmp_path: Path,
    stand_in: StandIn,
    kind: str,
    grace: float,
    expected: StandInEnd,
) -> None:
    def stopped() -> bool:
        return bool(stand_in.handler) or (tmp_path / "ready").exists()

    arguments = {"fifo": str(held.path), "stays": True}
    assert run(stand_in, kind=kind, grace=grace, stopped=stopped, arguments=arguments) == expected
    held.until_all_have_ended()


def test_killed_at_once(run: Callable[..., StandInEnd], held: Held) -> None:
    arguments = {"fifo": str(held.path), "stays": True}
    end = run(handler("holds"), killed=lambda: held.line() == "ready", arguments=arguments)
    assert end == StandInEnd(stopped=True)
    held.until_all_have_ended()


def test_the_guard_is_killed(run: Callable[..., StandInEnd], held: Held) -> None:
    ends: list[StandInEnd] = []
    text = f"exec 3>{held.path}; echo $PPID >&3; sleep 1000"
    thread = threading.Thread(target=lambda: ends.append(run(shell(text), kind="EMR")), daemon=True)
    thread.start()
    os.kill(int(held.line()), signal.SIGKILL)
    thread.join()
    assert ends[0].reason == "The command sh has ended, because the process that watches it was killed"
    held.until_all_have_ended()


LEADER = """
import json, sys, threading
from smlocal.pipelines.stand_in_run import StandInInput, run_stand_in
from smlocal.sagemaker.pipelines.definition import StandIn, Step
from smlocal.sagemaker.pipelines.step_types import STEP_TYPES

folder, fifo = sys.argv[1:]
step = Step(name="Score", type=STEP_TYPES["Lambda"], path=(), given={}, arguments={})
stand_ins = [
    StandIn(file="code/handlers.py", handler="holds"),
    StandIn(command=("sh", "-c", f"trap '' TERM HUP; exec 3>{fifo}; echo ready >&3; sleep 1000 & sleep 1000")),
]
for stand_in in stand_ins:
    given = StandInInput(step=step, arguments={"fifo": fifo, "stays": True}, folder=folder, log=f"{folder}/log")
    threading.Thread(target=run_stand_in, args=(stand_in, given), kwargs={"stopped": lambda: False}).start()
"""


@pytest.mark.slow(1)
def test_nothing_is_left_of_a_killed_leader(run: Callable[..., StandInEnd], held: Held, tmp_path: Path) -> None:
    del run  # its folder is used
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(LEADER), str(tmp_path), str(held.path)]) as leader:
        held.line()
        held.line()
        leader.kill()
        leader.wait()
    held.until_all_have_ended()


def test_the_documents_between_the_processes_are_json(run: Callable[..., StandInEnd]) -> None:
    arguments = {"text": "ä\ud800\n", "deep": json.loads("[" * 100 + "]" * 100), "large": 10**30}
    assert run(shell("cat | tr -d '\\n' | cut -c 1-20 >&2"), kind="EMR", arguments=arguments).last_lines == (
        '{"text": "\\u00e4\\ud8\n'
    )
