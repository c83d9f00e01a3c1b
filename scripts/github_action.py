"""The program of action.yml: smlocal with the inputs of the action, and its outcome as the outputs of the action.

Inputs come in variables (`INPUT_JOB`) and become arguments of their own, so nothing in them is a command or an option.
"""

import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from xml.etree import ElementTree as ET

COMMANDS = ("run", "check", "validate")
KINDS = ("TrainingJob", "ProcessingJob", "TransformJob", "HyperParameterTuningJob")
"""Kinds of jobs of SageMaker: members of their answers begin so."""
OPTIONS_OF_CHECK = ("dockerfile", "fail-on", "sarif", "body", "content-type")
SERVES = "train-and-serve"
ONLY_OF_CHECK = (*OPTIONS_OF_CHECK, SERVES)


def main() -> int:
    """Run it; the exit code is smlocal's."""
    inputs = {name: read_input(name) for name in ("command", "job", "image", "args", "junit", *ONLY_OF_CHECK)}
    wrong = list(mistakes(inputs))
    if wrong:
        for text in wrong:
            print(f"::error title=smlocal::{text}")
        nothing = dict.fromkeys(("job-name", "model", "report", "sarif"), "")
        write_outputs({"status": "Error", "failure-reason": wrong[0], **nothing})
        return 2
    folder = tempfile.mkdtemp(prefix="smlocal-report-", dir=os.environ.get("RUNNER_TEMP"))
    answer = os.path.join(folder, "result.json")
    paths = {"report": os.path.abspath(inputs["junit"] or os.path.join(folder, "junit.xml"))}
    paths["sarif"] = os.path.abspath(inputs["sarif"]) if inputs["sarif"] else ""
    before = {name: state_of(path) for name, path in paths.items()}
    # In one stream, so that the log has everything in the order in which it was written.
    code = subprocess.run(
        command_line(inputs, paths["report"], answer), stderr=subprocess.STDOUT, check=False
    ).returncode
    written = {name: path if state_of(path) not in {None, before[name]} else "" for name, path in paths.items()}
    status, reason = outcome_of_run(answer) if inputs["command"] == "run" else outcome_of_check(written["report"], code)
    write_outputs({"status": status, "failure-reason": reason, **details_of_run(answer), **written})
    return code


def read_input(name: str) -> str:
    """An input; the runner passes none as an empty text."""
    return os.environ.get(f"INPUT_{name.upper().replace('-', '_')}", "")


def mistakes(inputs: dict[str, str]) -> Iterator[str]:
    """The mistakes in the inputs before smlocal can report them."""
    command = inputs["command"]
    if command not in COMMANDS:
        yield f"The input command is one of: {', '.join(COMMANDS)}."
    if not inputs["job"] and not inputs["image"]:
        yield "Give a job file or an image: the inputs job and image are both empty."
    if command == "validate" and (inputs["image"] or not inputs["job"]):
        yield "The command validate takes a job file, and no image."
    if command in {"run", "validate"}:
        yield from (f"The input {name} is of the command check." for name in ONLY_OF_CHECK if inputs[name])
    if inputs[SERVES] not in {"", "true", "false"}:
        yield f"The input {SERVES} is true or false."
    try:
        shlex.split(inputs["args"])
    except ValueError as error:
        yield f"The input args cannot be taken apart: {error}."


def command_line(inputs: dict[str, str], junit: str, answer: str) -> list[str]:
    """The arguments: those of the user first, so that ours win; all but options stand behind `--`."""
    words = [sys.executable, "-P", "-m", "smlocal", inputs["command"], *shlex.split(inputs["args"])]
    words += ["--ci=github", f"--junit={junit}"]
    if inputs["command"] == "run":
        words += [f"--report={answer}", *([f"--image={inputs['image']}"] if inputs["image"] else [])]
        return [*words, *(["--", inputs["job"]] if inputs["job"] else [])]
    if inputs["job"] and inputs["image"]:
        words.append(f"--image={inputs['image']}")
    words += [f"--{name}={inputs[name]}" for name in OPTIONS_OF_CHECK if inputs[name]]
    words += [f"--{SERVES}"] if inputs[SERVES] == "true" else []
    return [*words, "--", inputs["job"] or inputs["image"]]


def outcome_of_run(answer: str) -> tuple[str, str]:
    """Status and reason of the job; without a job there is neither."""
    try:
        with open(answer, encoding="utf-8") as file:
            job = json.load(file)
    except FileNotFoundError:
        return "Error", "No job was made. The log says why."
    for kind in KINDS:
        if f"{kind}Status" in job:
            return job[f"{kind}Status"], job.get("FailureReason", "")
    error = job.get("error") or {}  # a job of AI Platform Training, or a custom job
    return job["state"], job.get("errorMessage") or error.get("message", "")


def details_of_run(answer: str) -> dict[str, str]:
    """The name of the job and its model, for later steps; empty where there is none."""
    try:
        with open(answer, encoding="utf-8") as file:
            job = json.load(file)
    except FileNotFoundError:
        return {"job-name": "", "model": ""}
    names = (job.get(name) for name in (*(f"{kind}Name" for kind in KINDS), "jobId", "displayName"))
    model = (job["Local"].get("Artifacts") or {}).get("Model")
    return {"job-name": next(filter(None, names), ""), "model": model or ""}


def outcome_of_check(junit: str, code: int) -> tuple[str, str]:
    """Whether the image or the job file passed, and what it failed by."""
    if not junit:
        return "Error", "Nothing was checked. The log says why."
    failures = [(case, case.find("failure")) for case in ET.parse(junit).iter("testcase")]
    found = [f"{case.get('name')}: {failure.get('message')}" for case, failure in failures if failure is not None]
    return "Failed" if code else "Passed", "\n".join(found)


def state_of(path: str) -> tuple[int, int] | None:
    """The difference once a file has been written; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def write_outputs(outputs: dict[str, str]) -> None:
    """Each between two lines that cannot be foreseen: a value may have lines that look like other outputs."""
    with open(os.environ["GITHUB_OUTPUT"], "ab") as file:
        for name, value in outputs.items():
            end = f"end-{secrets.token_hex(16)}"
            file.write(f"{name}<<{end}\n{value}\n{end}\n".encode("utf-8", "backslashreplace"))


if __name__ == "__main__":
    sys.exit(main())
