"""Why a program failed or left no model: the findings of `check` in its image, else its output and its job."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.decide.attempt_outcome import Archive, Symptoms, Trouble
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.shared_hints import MISSING, last_lines, left_files, listed, missing_module, other_file
from smlocal.terms.masking import looks_secret

_LONGEST_LINE = 2000
_LONGEST_SHOWN = 100
_LINES_BEFORE = 30
"""Lines above an error to search for a hyperparameter."""

_READ_ONLY = re.compile(r"[Rr]ead-only file ?system|\bEROFS\b")
_IN_DATA = re.compile(re.escape(paths.DATA) + r"/([\w.-]{1,255})(?:/([^\s'\":,;)\]]{1,500}))?")
_DATA_ITSELF = re.compile(re.escape(paths.DATA) + r"(?![\w.-]|/[\w.-])")
_EPOCH = re.compile(r"_\d+$")
_MANIFEST = "-manifest"

_TRAIN_REFUSED = re.compile(
    r"unrecognized arguments:(?: \S{1,200}){0,20} train\b|unexpected extra arguments? \(train\b"
    r"|No such command ['\"]train|invalid choice: ['\"]train['\"]"
)
_REQUIRED = re.compile(r"(?:arguments are required:|Missing (?:option|argument|parameter)) (.{1,500})")

_NO_NETWORK = re.compile(
    r"[Nn]ame or service not known|[Tt]emporary failure in name resolution|[Nn]o address associated with hostname"
    r"|[Cc]ould not resolve host|[Nn]etwork is unreachable|[Nn]o route to host|NameResolutionError|bad address '"
)
_NO_GPU = re.compile(
    r"Found no NVIDIA driver|No CUDA GPUs are available|no CUDA-capable device|libcuda\.so\.1: cannot open"
    r"|cudaErrorNoDevice|CUDA driver version is insufficient"
)

_TYPE_ERROR = re.compile(
    r"\b(?:\w*TypeError|InvalidParameterError|ValueError|ValidationError|AttributeError): (?P<what>.{1,1000})"
)
_NUMBER = r"(?:int|ints|float|integer|real number|number|bool)"
_TEXT_FOR_NUMBER = re.compile(
    rf"\bstr\b.{{0,200}}\b{_NUMBER}\b|\b{_NUMBER}\b.{{0,200}}\bstr\b|cannot be interpreted as an integer"
    rf"|must be (?:an? )?(?:{_NUMBER}|instance of)\b.{{0,200}}[Gg]ot ['\"]|sequence by non-int of type"
    r"|dtype\('<U\d+'\)|'str' object"
)
_NOT_A_NUMBER = re.compile(
    r"invalid literal for int\(\) with base \d+: (['\"])(?P<int>.{0,200}?)\1(?:$|[,\\)\s])"
    r"|could not convert string to float: (['\"])(?P<float>.{0,200}?)\3(?:$|[,\\)\s])"
)


_FUNCTION = "sagemaker_remote_function_bootstrap"
"""The channel that SDKs give to functions."""
_NO_SDK = re.compile(r"No module named ['\"]?sagemaker\b|No matching distribution found for sagemaker\b")


_ABORTED = "terminate called without an active exception"
"""The message of C++. With gloo it occurs by chance, on a busy machine in every second process."""


_NO_PROGRAM = (
    r"^exec \S+: |exec user process caused|exec format error|\\r'|[^\w.-]train: (?:[Nn]o such file|not found)"
    r"|exec train failed|(?:can't|[Cc]annot) open (?:file )?'?(?:\S{0,500}/)?train\b|bad interpreter"
    r"|cannot execute: required file not found|can't execute|env: .{0,200}No such file"
)
"""Messages of the kernel, shells, init programs and interpreters that did not find their program."""


class _AfterFailure(Protocol):
    """The parts of `smlocal.check.after_failure` that are used."""

    def program_hint(self, plan: JobPlan, archive: Archive) -> str | None: ...
    def signal_hint(self, plan: JobPlan, archive: Archive) -> str | None: ...


def hint(plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
    """The one that explains most; None if nothing is known."""
    if symptoms.trouble is Trouble.NO_MODEL:
        return lost_model(symptoms.log) or unkept_model(symptoms)
    if symptoms.trouble is Trouble.NOT_STOPPED:
        return _check().signal_hint(plan, symptoms.archive)
    if symptoms.trouble is Trouble.NOT_STARTED or re.search(_NO_PROGRAM, symptoms.log, re.MULTILINE):
        found = _check().program_hint(plan, symptoms.archive)
        if found is not None:
            return found
    if symptoms.trouble is Trouble.NOT_STARTED:
        return None
    return log_hint(plan, host, symptoms)


def _check() -> _AfterFailure:
    """By name, as a platform is: `check` runs jobs, so it stands above this. It is loaded after a failure only."""
    module: _AfterFailure = import_module("smlocal.check.after_failure")
    return module


@dataclass(frozen=True, kw_only=True, slots=True)
class _Case:
    """One source of lines about one host."""

    plan: JobPlan
    host: HostPlan
    lines: Sequence[str]
    word: str
    """The word for the source of the lines."""

    @property
    def last(self) -> Iterator[tuple[int, str]]:
        """The lines that may say why the program ended."""
        return last_lines(self.lines)

    @property
    def channels(self) -> list[str]:
        return [*(each.name for each in self.host.inputs.trees), *(each.name for each in self.host.inputs.pipes)]

    @property
    def numbers(self) -> dict[str, str]:
        """The hyperparameters that a program takes for something else than text."""
        given = self.plan.request.get("HyperParameters") or {}
        return {
            name: value
            for name, value in given.items()
            if not name.startswith(("sagemaker_", "_")) and _is_value(value) and not looks_secret(name, value)
        }


def log_hint(plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
    """The hint from the log, else from the failure file."""
    for word, text in (("log", symptoms.log), ("failure file", symptoms.failure)):
        lines = [line[:_LONGEST_LINE] for line in text.splitlines()]
        case = _Case(plan=plan, host=host, lines=lines, word=word)
        for rule in _RULES:
            found = rule(case)
            if found is not None:
                return found
        found = missing_module(plan, host, symptoms, [line for _, line in case.last])
        if found is not None:
            return found
    return None


def _missing_input(case: _Case) -> str | None:
    """A channel that the job does not have, or a file that a channel does not have. The last that is named counts."""
    for _, line in case.last:
        if not MISSING.search(line):
            continue
        for written, below in _IN_DATA.findall(line):
            name = written.rstrip(".")
            found = _without_channels(case, name) or _other_channel(case, name) or _other_file(case, name, below)
            if found:
                return found
        if not case.channels and _DATA_ITSELF.search(line):
            return "The job has no channels: add InputDataConfig to the job file, or run it with --channel NAME=DIR."
    return None


def _without_channels(case: _Case, name: str) -> str:
    if case.channels:
        return ""
    name = name.removesuffix(_MANIFEST)
    return (
        f"The job has no channels, and the {case.word} names {name}. Add it to InputDataConfig, or run the job with "
        f"--channel {name}=DIR."
    )


def _other_channel(case: _Case, name: str) -> str:
    known, name = case.channels, name.removesuffix(_MANIFEST)
    pipes = [each.name for each in case.host.inputs.pipes]
    base = _EPOCH.sub("", name)
    if name in known or base in pipes:
        return "" if name not in pipes else _is_pipe(name)
    if base in known:
        return (
            f"The {case.word} names {name}, a FIFO of Pipe mode, and the channel {base} is not in Pipe mode: set its "
            "InputMode, or read the files in the folder of the channel."
        )
    has = f"has the channel{'s' * (len(known) > 1)} {listed(known)}"
    return (
        f"The job {has}; the {case.word} names {name}. Give the channel that name (ChannelName), or read "
        f"{paths.channel(known[0])}."
    )


def _is_pipe(name: str) -> str:
    return (
        f"The channel {name} is in Pipe mode: it has FIFOs, not a folder: {paths.channel(name)}_0 for the first epoch."
    )


def _other_file(case: _Case, name: str, below: str) -> str:
    found = next((tree for tree in case.host.inputs.trees if tree.name == name), None)
    return "" if found is None else other_file(found, f"channel {name}", below.rstrip("/."), case.word)


def _written_to_channel(case: _Case) -> str | None:
    locked = {tree.name: tree.mode for tree in case.host.inputs.trees if not tree.writable}
    if not locked:
        return None
    for _, line in case.last:
        if _READ_ONLY.search(line):
            named = [name for name, _ in _IN_DATA.findall(line)]
            # Without a name the path is relative, or it is not shown.
            found = next((name for name in named or locked if name in locked), None)
            if found is not None:
                mode = locked[found]
                how = "in FastFile mode" if mode == "FastFile" else "a file system that is mounted read-only"
                other = "set its InputMode to File" if mode == "FastFile" else "set FileSystemAccessMode to rw"
                return f"The channel {found} is {how}, which cannot be written to: write to another folder, or {other}."
    return None


def _argument_refused(case: _Case) -> str | None:
    """A hint for a program that does not know the argument `train`, or lacks those that it has replaced."""
    plan, facts = case.plan, case.plan.image.facts
    command = (facts.command or ()) if facts is not None else ()
    if plan.image.entrypoint is not None or "train" not in (plan.image.command or ()):
        return None
    for _, line in case.last:
        if _TRAIN_REFUSED.search(line) or _lacks(line, command):
            entrypoint = (facts.entrypoint or ()) if facts is not None else ()
            if not command:
                return "The service gives the ENTRYPOINT one argument, train: let the program accept it."
            return (
                f"The service gives the argument train in place of the CMD of the image, {_as_json(command)}: let the "
                f"program accept it, and write the rest into the ENTRYPOINT: {_as_json((*entrypoint, *command))}"
            )
    return None


def _lacks(line: str, command: Sequence[str]) -> bool:
    required = _REQUIRED.search(line)
    words = re.findall(r"--?[\w-]+", required[1]) if required else []
    return any(given.partition("=")[0] in words for given in command)


def _text_for_number(case: _Case) -> str | None:
    numbers = case.numbers
    if not numbers:
        return None
    for index, line in case.last:
        error = _TYPE_ERROR.search(line)
        if error and _TEXT_FOR_NUMBER.search(error["what"]):
            name = _suspect(numbers, error["what"], case.lines[max(0, index - _LINES_BEFORE) : index])
            return (
                f'Hyperparameters are text in the container: {name} is "{numbers[name][:_LONGEST_SHOWN]}". The program '
                f"has to convert it, for example with {_conversion(numbers[name])}."
            )
    return None


def _suspect(numbers: dict[str, str], what: str, before: Sequence[str]) -> str:
    """The one that the lines name last, else one whose value the message has, else the first."""
    for line in (what, *reversed(before)):
        words = set(re.findall(r"\w+", line.replace("-", "_")))
        for name in numbers:
            if name.replace("-", "_") in words:
                return name
    quoted = (name for name, value in numbers.items() if f"'{value}'" in what or f'"{value}"' in what)
    return next(quoted, next(iter(numbers)))


def _no_number(case: _Case) -> str | None:
    given = case.plan.request.get("HyperParameters") or {}
    for _, line in case.last:
        found = _NOT_A_NUMBER.search(line)
        if found:
            value = found["int"] if found["int"] is not None else found["float"]
            kind = "an integer" if found["int"] is not None and _is_value(value) else "a number"
            for name, text in given.items():
                if value and value in {text, text.strip('"')} and not looks_secret(name, text):
                    return f'The hyperparameter {name} is "{value}", which the program takes for {kind}.'
    return None


def _hidden_file(case: _Case) -> str | None:
    facts = case.plan.image.facts
    for _, line in case.last:
        if MISSING.search(line):
            for path in facts.reserved_files if facts is not None else ():
                if path in line:
                    return (
                        f"{path} is a file of the image, and the job's own folder is mounted over it: keep the files "
                        "of the image elsewhere, for example below /opt/program."
                    )
    return None


def _without_network(case: _Case) -> str | None:
    if case.plan.request.get("EnableNetworkIsolation") is not True:
        return None
    if not any(_NO_NETWORK.search(line) for _, line in case.last):
        return None
    return (
        "The job has EnableNetworkIsolation, so its containers reach nothing but each other: put what they download "
        "into the image, or into a channel."
    )


def _without_gpu(case: _Case) -> str | None:
    if case.host.accelerators.gpus is not None or not any(_NO_GPU.search(line) for _, line in case.last):
        return None
    name = case.host.host.instance_type
    given_up = any(note.id == "allow-cpu" for note in case.plan.notes)
    why = " here, because the job is run without it (--allow-cpu, or Local.Gpus)" if given_up else ""
    return f"The program needs a GPU, and {name} has none{why}."


def _aborted_at_end(case: _Case) -> str | None:
    if not any(line.strip() == _ABORTED for _, line in case.last):
        return None
    return (
        "A thread was still running when the program ended. If it uses torch.distributed, call "
        "torch.distributed.destroy_process_group() at the end, even after an error."
    )


def _is_value(text: str) -> bool:
    """Whether it is the text of a number, of true or false, or of a list or an object."""
    if text.lower() in {"true", "false", "none", "null"}:
        return True
    try:
        return not isinstance(json.loads(text), str)
    except (ValueError, RecursionError):
        pass
    try:
        float(text)
    except ValueError:
        return False
    return True


def _conversion(text: str) -> str:
    if text.lower() in {"true", "false"}:
        return f'value == "{text}"'
    for kind in (int, float):
        try:
            kind(text)
        except ValueError:
            continue
        return f"{kind.__name__}(value)"
    return "json.loads(value)"


def _as_json(words: Sequence[str]) -> str:
    return json.dumps(list(words), ensure_ascii=False)


def _function_without_sdk(case: _Case) -> str | None:
    """About `@remote` and `@step`. What else the log names is then that of the SDK, and not of the user."""
    if _FUNCTION not in case.channels or not any(_NO_SDK.search(line) for _, line in case.last):
        return None
    return (
        "Functions with @remote and @step are run by the SageMaker SDK in the container, and the image has none: "
        "install that of your program in the Dockerfile (RUN pip install sagemaker-core, or 'sagemaker<3' for SDK v2)."
    )


_RULES: tuple[Callable[[_Case], str | None], ...] = (
    _function_without_sdk,
    _written_to_channel,
    _hidden_file,
    _missing_input,
    _argument_refused,
    _no_number,
    _text_for_number,
    _without_network,
    _without_gpu,
    _aborted_at_end,
)


_SAVED = re.compile(
    r"\b(?:sav(?:ed|ing)|wr(?:ote|itten|iting)|export(?:ed|ing)|dump(?:ed|ing)|stor(?:ed|ing))\b", re.IGNORECASE
)
_PATH = re.compile(r"(?<![\w/.:])/[\w./+@-]{2,500}")
_NO_FILES = ("/dev/", "/proc/", "/sys/")


def lost_model(log: str) -> str | None:
    """A hint for the last path outside the folder of the model that the log says was saved."""
    for line in reversed(log.splitlines()):
        text = line[:_LONGEST_LINE]
        if _SAVED.search(text):
            for path in _PATH.findall(text):
                hint = _place_hint(path.rstrip(".-/"))
                if hint:
                    return hint
    return None


def unkept_model(symptoms: Symptoms) -> str | None:
    """A hint about files that the program wrote outside the model folder."""
    found = left_files(symptoms)
    if not found:
        return None
    which = "which is" if len(found) == 1 else "which are"
    return (
        f"The program wrote {listed(found)}, {which} not below {paths.MODEL}: only files there are kept as the model."
    )


def _place_hint(path: str) -> str:
    if path.startswith(_NO_FILES) or f"{path}/".startswith(f"{paths.MODEL}/"):
        return ""
    if f"{path}/".startswith(f"{paths.OUTPUT_DATA}/"):
        return f"The log names {path}, which is in output.tar.gz: the model is only the files below {paths.MODEL}."
    return f"The log names {path}, which is not below {paths.MODEL}: only files there are kept as the model."
