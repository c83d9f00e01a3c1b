"""What the expressions of steps can refer to while an execution runs: answers of steps, and files that they wrote."""

import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.data.sources.local_path import local_path
from smlocal.errors import PathNotAllowedError
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.store.jobs import Store
from smlocal.pipelines.job_file import PipelineFile
from smlocal.sagemaker.pipelines.deciding import Iteration
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.parameters import values_of
from smlocal.sagemaker.pipelines.stored import StoredStep
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError, evaluate
from smlocal.terms.json_size import too_large
from smlocal.terms.rights import Rights

_MOST_BYTES: Final = 10 << 20
"""Of a JSON file that a value is read from."""
_BUCKET: Final = regex(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
"""The name of one. Other folders beside them are not for steps."""
_MOST_PARTS, _MOST_LEVELS = 400_000, 100


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownValues:
    """Of one execution."""

    definition: Definition
    parameters: Mapping[str, Any]
    execution: Mapping[str, str]
    steps: dict[str, StoredStep]
    """Those that have begun; the leader changes it."""
    buckets: str
    """The folder with a folder for each bucket."""

    def now(self, iteration: Iteration | None = None, **variables: str) -> Known:
        """What is known now. `iteration`: of a ForEach, whose steps know each other. `variables`: more of them.

        A file is read once, however many values of it in a row a step takes.
        """
        execution = {**self.execution, "CurrentDateTime": time_text(time.time()), **variables}
        steps = {**self.steps, **self._siblings(iteration)}
        config = self.definition.given.get("PipelineExperimentConfig") or {}
        return Known(
            parameters=self.parameters,
            execution=execution,
            experiment=evaluate(config, Known(parameters=self.parameters, execution=execution)),
            answers={name: step.answer for name, step in steps.items() if step.answer is not None},
            file_of=lru_cache(maxsize=1)(lambda step, name: self._property_file(step, name, steps)),
            object_at=lru_cache(maxsize=1)(lambda uri: read_json(self.path_of(uri, self.folders()), uri)),
            item=None if iteration is None else iteration.item,
        )

    def _siblings(self, iteration: Iteration | None) -> dict[str, StoredStep]:
        """The steps of an iteration, by their names in the body."""
        if iteration is None:
            return {}
        names = [body.name for body in self.definition.children(iteration.parent)]
        children = {name: self.steps.get(f"{name}-{iteration.index}") for name in names}
        return {name: child for name, child in children.items() if child is not None}

    def folders(self) -> dict[str, str]:
        """The locations that steps have written, and where that is on this machine."""
        return {uri: folder for step in self.steps.values() for uri, folder in step.folders.items()}

    def path_of(self, uri: str, folders: Mapping[str, str]) -> str:
        """The path of an object on this machine; `ValueUnknownError` if it is not here."""
        path = path_in(folders, uri)
        if path is not None:
            return path
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        folder = os.path.join(self.buckets, bucket)
        if uri.startswith("s3://") and _BUCKET.fullmatch(bucket) and ".." not in bucket and os.path.isdir(folder):
            return _below(folder, key)
        raise ValueUnknownError(f"{uri}: no step of this execution has written it, and its bucket is no folder here")

    def _property_file(self, step: str, name: str, steps: Mapping[str, StoredStep]) -> Any:
        file = next(each for each in self.definition.steps[step].files if each.name == name)
        stored = steps.get(step)
        outputs = ((stored.answer if stored else None) or {}).get("ProcessingOutputConfig", {}).get("Outputs", [])
        uri = next((each["S3Output"]["S3Uri"] for each in outputs if each["OutputName"] == file.output), None)
        if stored is None or uri is None:
            raise ValueUnknownError(f"the property file '{name}': the step '{step}' has no output '{file.output}'")
        location = f"{uri.rstrip('/')}/{file.file}"
        path = self.path_of(location, {**self.folders(), **stored.folders})
        if not os.path.lexists(path):
            missing = f"the step '{step}' has written no {file.file} to its output '{file.output}'"
            raise ValueUnknownError(f"the property file '{name}' is missing: {missing}")
        return read_json(path, f"the property file '{name}'")


def may_use(folders: Mapping[str, str], client: Mapping[str, Any]) -> bool:
    """False if what another execution has written lies where the client may use nothing. `client`: its rights."""
    allowed = client.get("Folders")
    if allowed is None:
        return True
    try:
        for path in folders.values():
            local_path(path, "/", Rights(folders=tuple(allowed)))
    except PathNotAllowedError:
        return False
    return True


def path_in(folders: Mapping[str, str], uri: str) -> str | None:
    """The path of an object in one of these locations; None if it is in none, `ValueUnknownError` for a link out."""
    for location in sorted(folders, key=len, reverse=True):
        if uri == location or uri.startswith(f"{location.rstrip('/')}/"):
            return _below(folders[location], uri[len(location) :])
    return None


def _below(folder: str, key: str) -> str:
    """A path in a folder that a container has written; `ValueUnknownError` if a link leads out of it."""
    inner = os.path.normpath("/" + key).lstrip("/")
    path = os.path.join(folder, inner) if inner else folder
    real = os.path.realpath(folder)
    try:
        inside = os.path.commonpath([real, os.path.realpath(path)]) == real
    except ValueError:  # such as a null character, which parameters and answers can bring
        raise ValueUnknownError(f"{key.strip('/')!a} cannot be the name of a file") from None
    if not inside:
        raise ValueUnknownError(f"{key.strip('/')} leads out of its folder by a link")
    return path


def read_json(path: str, called: str) -> Any:
    """The JSON in a file that a container has written; `ValueUnknownError` if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueUnknownError(f"{called} is not a regular file")
            content = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise ValueUnknownError(f"{called} is not there") from None
    except OSError as error:
        raise ValueUnknownError(f"{called} cannot be read: {error.strerror}") from None
    if len(content) > _MOST_BYTES:
        raise ValueUnknownError(f"{called} is larger than {_MOST_BYTES >> 20} MiB")
    try:
        text = content.decode()
        if too_large(text, parts=_MOST_PARTS, levels=_MOST_LEVELS) is not None:
            raise ValueUnknownError(f"{called} is too large, or too deep")
        return json.loads(text)
    except ValueError as error:
        raise ValueUnknownError(f"{called} is not JSON: {error}") from None


def execution_variables(file: PipelineFile, arn: str, created: float) -> dict[str, str]:
    """Those that do not change."""
    return {
        "PipelineName": file.pipeline,
        "PipelineArn": arn.partition("/execution/")[0],
        "PipelineExecutionId": file.execution_id,
        "PipelineExecutionArn": arn,
        "StartDateTime": time_text(created),
    }


def parameter_values(file: PipelineFile) -> dict[str, Any]:
    """The value of each parameter."""
    given = {each["Name"]: each["Value"] for each in file.start.get("PipelineParameters", ())}
    values, _ = values_of(file.definition.parameters, given)
    return values


def time_text(at: float) -> str:
    """As the service prints times."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def written_folders(store: Store, job: str) -> dict[str, str]:
    """The locations that a job has written by its answer, and where that is on this machine."""
    answer = describe_job(store, job)
    return {uri: path for uri, path in _written(answer, answer["Local"]) if uri and path}


def _written(answer: Mapping[str, Any], local: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    artifacts = local.get("Artifacts") or {}
    yield (answer.get("ModelArtifacts") or {}).get("S3ModelArtifacts", ""), artifacts.get("Model") or ""
    outputs: Iterable[Mapping[str, Any]] = (answer.get("ProcessingOutputConfig") or {}).get("Outputs", ())
    folders = {each["Name"]: each["Directory"] for each in local.get("Outputs") or ()}
    for each in outputs:
        yield (each.get("S3Output") or {}).get("S3Uri", ""), folders.get(each["OutputName"], "")
    yield (answer.get("TransformOutput") or {}).get("S3OutputPath", ""), str(artifacts.get("Output") or "")
