"""Pipelines and their versions: documents that executions are made from."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from smlocal.api.removing import remove
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.endpoint.objects.s3_documents import S3CallError
from smlocal.endpoint.sagemaker.job_operations import refusals_answered
from smlocal.endpoint.sagemaker.model_documents import local_of
from smlocal.endpoint.sagemaker.pages import page_of, take
from smlocal.endpoint.sagemaker.request_folders import bucket_of, local_block, not_let
from smlocal.endpoint.sagemaker.resources import ResourceWords
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobNotFinishedError, JobUnknownError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker import kinds
from smlocal.sagemaker.contract.identity import account
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.reading import read_definition
from smlocal.sagemaker.pipelines.step_reading import UNPARSED
from smlocal.sagemaker.pipelines.step_types import MOST_BYTES, MOST_LEVELS
from smlocal.terms.json_size import too_large

PIPELINE: Final = ResourceWords(name="pipeline", spoken="pipeline", in_arn="pipeline", as_named=True)
_TEXT: Final = "pipeline-definition"
"""The kind of resources with the text of a definition: lists read the pipelines, and not these."""
_VERSIONS: Final = "Versions"
_ASKED: Final = "Asked"
"""The digest of the CreatePipeline request: the same one again is answered as the first."""
_DEFINITION: Final = "PipelineDefinition"
_LOCATION: Final = "PipelineDefinitionS3Location"
_ALIASES: Final = "PipelineVersionAliases"
_CHANGED: Final = ("PipelineDisplayName", "PipelineDescription", "RoleArn", "ParallelismConfiguration", LOCAL)
"""What an update replaces, beside the definition."""
_SHOWN: Final = ("PipelineDisplayName", "PipelineDescription", "RoleArn", "ParallelismConfiguration")
_OF_VERSION: Final = ("PipelineVersionDisplayName", "PipelineVersionDescription", _ALIASES)
_WITH_COMMANDS: Final = frozenset({"Command", "Python"})
_STEPS: Final = "Steps"
_QUEUE: Final = "Queue"


def create_pipeline(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Record it, once its definition is valid. What this machine cannot do is refused when an execution begins."""
    asked = call.parameters
    name, again = asked["PipelineName"], digest_of(asked)
    arn = PIPELINE.arn(name, region=call.region, account=account(role=asked["RoleArn"], image=None))
    there = serving.store.resource(PIPELINE.name, name) or serving.store.resource_of(arn)
    if there is None:
        text = _given_definition(serving, asked)
        _check(serving, asked, text)
        body: dict[str, Any] = {member: asked[member] for member in (*_CHANGED, "Tags") if member in asked}
        body |= {_ASKED: again, _VERSIONS: [_version(1, _keep(serving, name, text), asked)]}
        now = round(time.time(), 3)
        new = StoredResource(kind=PIPELINE.name, name=name, arn=arn, created=now, modified=now, body=body)
        if serving.store.add_resource(new):
            return {"PipelineArn": arn}
        there = serving.store.resource(PIPELINE.name, name)  # another call was first
    if there is not None and there.body[_ASKED] == again:
        return {"PipelineArn": there.arn}
    # SDKs look for the last words.
    raise validation_error(
        f"Pipeline names must be unique within an AWS account and region. Pipeline with name ({name}) already exists."
    )


def update_pipeline(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Another definition is another version. Executions that run keep theirs."""
    asked = call.parameters
    pipeline = called(serving, asked["PipelineName"], call)
    text = _given_definition(serving, asked) if _DEFINITION in asked or _LOCATION in asked else None
    if text is not None:
        _check(serving, {**pipeline.body, **asked}, text)
    elif LOCAL in asked:
        client_local(serving, asked)
    kept = None if text is None else _keep(serving, pipeline.name, text)

    def updated(body: dict[str, Any]) -> dict[str, Any]:
        versions = list(body[_VERSIONS])
        if kept is not None:
            versions.append(_version(len(versions) + 1, kept, asked))
        body = {**body, **{member: asked[member] for member in _CHANGED if member in asked}}
        return {**body, _VERSIONS: _with_aliases(versions, len(versions), asked.get(_ALIASES, ()))}

    changed = serving.store.change_resource(PIPELINE.name, pipeline.name, updated, at=time.time())
    if changed is None:
        raise unknown(pipeline.arn)
    return {"PipelineArn": changed.arn, "PipelineVersionId": len(changed.body[_VERSIONS])}


def describe_pipeline(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """As it is now, or one of its versions."""
    asked = call.parameters
    pipeline = called(serving, asked["PipelineName"], call)
    version = version_of(pipeline, asked)
    named = "PipelineVersionId" in asked or "PipelineVersionAlias" in asked
    last = last_execution(executions_below(serving, pipeline.arn))
    return {
        "PipelineArn": pipeline.arn,
        "PipelineName": pipeline.name,
        _DEFINITION: definition_text(serving, pipeline, version),
        "PipelineStatus": "Active",
        "CreationTime": pipeline.created,
        "LastModifiedTime": pipeline.modified,
        **{member: pipeline.body[member] for member in _SHOWN if member in pipeline.body},
        **({"LastRunTime": last.created} if last is not None else {}),
        **({member: version[member] for member in _OF_VERSION if version.get(member)} if named else {}),
    }


def delete_pipeline(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Remove it with its executions, none of which may run. The jobs of their steps stay."""
    pipeline = called(serving, call.parameters["PipelineName"], call)
    executions = executions_below(serving, pipeline.arn)
    if any(not each.record.status.terminal for each in executions):
        raise ServiceError("ConflictException", f"Pipeline '{pipeline.arn}' has executions that run. Stop them first.")
    for record in _jobs_below(serving, pipeline.arn):
        try:
            remove(serving.store, record.name, stop=False, force=False, abandon=False, on_message=serving.log)
        except JobUnknownError:
            continue
        except JobNotFinishedError:
            text = f"Pipeline '{pipeline.arn}' has executions that run. Stop them first."
            raise ServiceError("ConflictException", text) from None
    serving.store.change_resource(PIPELINE.name, pipeline.name, lambda _: None, at=time.time())
    for version in pipeline.body[_VERSIONS]:
        serving.store.change_resource(_TEXT, _text_name(pipeline.name, version["Text"]), lambda _: None, at=time.time())
    return {"PipelineArn": pipeline.arn}


def list_pipelines(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of them."""
    asked = asked_of_list(call.parameters)
    prefix = asked.get("PipelineNamePrefix", "")
    found = [each for each in serving.store.resources(PIPELINE.name) if each.name.startswith(prefix)]
    if asked.get("ManagedBy") == "AWS":
        found = []

    def summary(pipeline: StoredResource) -> dict[str, Any]:
        last = last_execution(executions_below(serving, pipeline.arn))
        shown = {member: pipeline.body[member] for member in _SHOWN[:3] if member in pipeline.body}
        return {
            "PipelineArn": pipeline.arn,
            "PipelineName": pipeline.name,
            **shown,
            "CreationTime": pipeline.created,
            "LastModifiedTime": pipeline.modified,
            **({"LastExecutionTime": last.created} if last is not None else {}),
        }

    return page_of(take(found, asked), asked, member="PipelineSummaries", summary=summary)


# Versions.


@dataclass(frozen=True, kw_only=True, slots=True)
class _Version:
    """One in a list."""

    body: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.body['Id']:012}"

    @property
    def created(self) -> float:
        return float(self.body["Created"])

    @property
    def modified(self) -> float:
        return self.created  # no filter asks for it


def list_pipeline_versions(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of them, the newest first."""
    asked = asked_of_list(call.parameters)
    pipeline = called(serving, asked["PipelineName"], call)
    began = {each.record.name: each.created for each in executions_below(serving, pipeline.arn)}
    requests = serving.store.jobs_with(REQUEST, [*began])
    last = {
        request.get("PipelineVersionId"): record.arn
        for record, request in sorted(requests, key=lambda found: began[found[0].name])
    }

    def summary(version: _Version) -> dict[str, Any]:
        number = version.body["Id"]
        return {
            "PipelineArn": pipeline.arn,
            "PipelineVersionId": number,
            "CreationTime": version.created,
            **{member: version.body[member] for member in _OF_VERSION if version.body.get(member)},
            **({"LastExecutionPipelineExecutionArn": last[number]} if number in last else {}),
        }

    versions = [_Version(body=each) for each in pipeline.body[_VERSIONS]]
    taken = take(versions, asked, by="Name")
    return page_of(taken, asked, member="PipelineVersionSummaries", summary=summary)


def update_pipeline_version(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Its names. An alias that another version has goes over to this one."""
    asked = call.parameters
    pipeline = called(serving, asked["PipelineArn"], call)
    number = version_of(pipeline, asked)["Id"]
    operations = asked.get("PipelineVersionAliasOperations", {})

    def updated(body: dict[str, Any]) -> dict[str, Any]:
        versions = _with_aliases(body[_VERSIONS], number, operations.get("Add", ()), operations.get("Remove", ()))
        given = {member: asked[member] for member in _OF_VERSION[:2] if member in asked}
        return {**body, _VERSIONS: [{**each, **given} if each["Id"] == number else each for each in versions]}

    if serving.store.change_resource(PIPELINE.name, pipeline.name, updated, at=pipeline.modified) is None:
        raise unknown(pipeline.arn)
    return {"PipelineArn": pipeline.arn, "PipelineVersionId": number}


def version_of(pipeline: StoredResource, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """The version that a call names, the latest if it names none; `ServiceError` if there is no such one."""
    versions: Sequence[Mapping[str, Any]] = pipeline.body[_VERSIONS]
    number, alias = asked.get("PipelineVersionId"), asked.get("PipelineVersionAlias")
    if number is None and alias is None:
        return versions[-1]
    for each in versions:
        if number in {None, each["Id"]} and (alias is None or alias in each.get(_ALIASES, ())):
            return each
    said = " and ".join(filter(None, [number and f"id {number}", alias and f"alias '{alias}'"]))
    raise ServiceError("ResourceNotFound", f"Pipeline '{pipeline.arn}' has no version with {said}.")


def _version(number: int, text: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    return {"Id": number, "Created": round(time.time(), 3), "Text": text, _ALIASES: list(asked.get(_ALIASES, ()))}


def _with_aliases(
    versions: Sequence[Mapping[str, Any]], number: int, added: Sequence[str], removed: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """An alias is of one version only."""
    found = []
    for each in versions:
        own = each["Id"] == number
        gone = {*added, *(removed if own else ())}
        aliases = [alias for alias in each.get(_ALIASES, ()) if alias not in gone]
        found.append({**each, _ALIASES: [*aliases, *(added if own else ())]})
    return found


# The definition of a version.


def definition_text(serving: HasStore, pipeline: StoredResource, version: Mapping[str, Any]) -> str:
    """As the client gave it."""
    stored = serving.store.resource(_TEXT, _text_name(pipeline.name, version["Text"]))
    if stored is None:  # the pipeline was deleted at the same time
        raise unknown(pipeline.arn)
    return str(stored.body["Text"])


def _keep(serving: HasStore, name: str, text: str) -> str:
    """Store the text of a definition; the same one is stored once. Returns what names it."""
    named, now = hashlib.sha256(text.encode()).hexdigest(), time.time()
    kept = StoredResource(
        kind=_TEXT, name=_text_name(name, named), arn="", created=now, modified=now, body={"Text": text}
    )
    serving.store.add_resource(kept)
    return named


def _text_name(pipeline: str, named: str) -> str:
    return f"{pipeline}/{named}"


def _given_definition(serving: Serving, asked: Mapping[str, Any]) -> str:
    """The text in the request, or in the object that it names."""
    text, location = asked.get(_DEFINITION), asked.get(_LOCATION)
    if (text is None) is (location is None):
        raise validation_error(f"Exactly one of {_DEFINITION} and {_LOCATION} must be given.")
    if text is None:
        text = _object(serving, location or {})
    if not text.lstrip().startswith("{"):
        raise validation_error(f"{UNPARSED} Expecting start of Json Object.")
    # Python would tell it where its stack ends. With fewer levels, the reader of definitions says where they are.
    if too_large(text, parts=len(text), levels=2 * MOST_LEVELS) is not None:
        raise validation_error(f"{UNPARSED} It is more than {MOST_LEVELS} levels deep.")
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise validation_error(f"{UNPARSED} It is no JSON: {error}") from None
    return str(text)


def _object(serving: Serving, location: Mapping[str, Any]) -> str:
    uri = f"s3://{location['Bucket']}/{location['ObjectKey']}"
    if "VersionId" in location:
        raise validation_error(f"{_LOCATION}: buckets here keep no versions of objects; leave out VersionId.")
    found = bucket_of(serving, uri)
    if found is None:
        raise validation_error(f"{_LOCATION}: {uri} is not in a bucket of this server.")
    bucket, key = found
    try:
        with open(bucket.open(key), "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except S3CallError:
        raise validation_error(f"{_LOCATION}: there is no object {uri}.") from None
    if len(content) > MOST_BYTES:
        raise validation_error(f"{_LOCATION}: {uri} is larger than {MOST_BYTES >> 20} MiB.")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise validation_error(f"{_LOCATION}: {uri} is not text.") from None


def _check(serving: Serving, asked: Mapping[str, Any], text: str) -> None:
    checked_definition(serving, pipeline_document(serving, asked, text, client_local(serving, asked)))


def pipeline_document(serving: Serving, pipeline: Mapping[str, Any], text: str, local: Mapping[str, Any]) -> Document:
    """The CreatePipeline request with this definition. Stand-ins are relative to the folder of their file."""
    members = ("PipelineName", "RoleArn", "ParallelismConfiguration")
    data = {"PipelineName": "request", **{member: pipeline[member] for member in members if member in pipeline}}
    directory = serving.options.stand_in_folder
    return Document({**data, _DEFINITION: text, LOCAL: dict(local)}, name="request", directory=directory)


def checked_definition(serving: Serving, document: Document) -> Definition:
    """Read it; `ServiceError` with all mistakes but what this machine cannot do."""
    with refusals_answered():
        return read_definition(document, stand_ins=serving.options.stand_ins.keys(), runs_here=False)


def client_local(serving: Serving, *requests: Mapping[str, Any]) -> dict[str, Any]:
    """The `Local` block of the requests; `ServiceError` if clients of this server may not set all of it."""
    local = local_of(*requests) or {}
    own = {name: local[name] for name in (_STEPS, _QUEUE) if name in local}
    if own and not serving.options.rights.local_members:
        refused = [name for name, value in own.items() if name == _QUEUE or _has_commands(value)]
        if refused:
            raise not_let(refused)
    contents = {"Cache"} if local.get("Cache") == "contents" else set()
    others = {name: value for name, value in local.items() if name not in {*own, *contents}}
    local_block(serving, {LOCAL: others})  # refuses what the jobs of steps may not have
    return local


def _has_commands(steps: Any) -> bool:
    """True for stand-ins that run something, and for what are none."""
    if not isinstance(steps, dict):
        return True
    return any(not isinstance(each, dict) or not _WITH_COMMANDS.isdisjoint(each) for each in steps.values())


# Which pipeline, and its executions.


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundExecution:
    """An execution: the newest of its jobs, and when the first was made."""

    record: JobRecord
    created: float

    @property
    def name(self) -> str:
        """Lists sort by it."""
        return self.record.arn

    @property
    def modified(self) -> float:
        """Seconds since the epoch."""
        return self.record.modified


def called(serving: HasStore, named: str, call: AwsCall) -> StoredResource:
    """The pipeline of a name or an ARN; `ServiceError` if there is none."""
    store = serving.store
    by_arn = named.startswith("arn:")
    pipeline = store.resource_of(named) if by_arn else store.resource(PIPELINE.name, named)
    if pipeline is None or pipeline.kind != PIPELINE.name:
        raise unknown(named if by_arn else PIPELINE.arn(named, region=call.region))
    return pipeline


def unknown(arn: str) -> ServiceError:
    """The answer about a pipeline that is not there."""
    return ServiceError("ResourceNotFound", f"Pipeline '{arn}' does not exist.")


def executions_below(serving: HasStore, pipeline_arn: str) -> list[FoundExecution]:
    """The executions of a pipeline, also those that `smlocal run` has made; the oldest first."""
    first: dict[str, float] = {}
    newest: dict[str, JobRecord] = {}
    for record in _jobs_below(serving, pipeline_arn):
        first.setdefault(record.arn, record.created)
        newest[record.arn] = record
    return [FoundExecution(record=record, created=first[arn]) for arn, record in newest.items()]


def _jobs_below(serving: HasStore, pipeline_arn: str) -> list[JobRecord]:
    """The jobs of all executions of a pipeline, the oldest first."""
    names = serving.store.names(platform=kinds.PIPELINE.name)
    records = (record for record, _ in serving.store.jobs_with(REQUEST, names))
    below = [record for record in records if record.arn.startswith(f"{pipeline_arn}/execution/")]
    return sorted(below, key=lambda record: record.created)


def last_execution(executions: Sequence[FoundExecution]) -> FoundExecution | None:
    """The execution that began last."""
    return max(executions, key=lambda each: each.created, default=None)


def digest_of(asked: Mapping[str, Any]) -> str:
    """Equal for the same request with the same ClientRequestToken."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


_RENAMED: Final = {"CreatedAfter": "CreationTimeAfter", "CreatedBefore": "CreationTimeBefore"}


def asked_of_list(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a call, with the members as other lists name them."""
    return {_RENAMED.get(member, member): value for member, value in asked.items()}


PIPELINES: Final[Mapping[str, Handler]] = {
    "CreatePipeline": create_pipeline,
    "DeletePipeline": delete_pipeline,
    "DescribePipeline": describe_pipeline,
    "ListPipelineVersions": list_pipeline_versions,
    "ListPipelines": list_pipelines,
    "UpdatePipeline": update_pipeline,
    "UpdatePipelineVersion": update_pipeline_version,
}
"""Those on pipelines and their versions."""
