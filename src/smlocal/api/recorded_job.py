"""Reads the recorded request of a job, with changes, for another run."""

import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from smlocal.api.overrides import Overrides
from smlocal.errors import UsageRefusedError

if TYPE_CHECKING:
    from smlocal.contract.validation.member_path import Path
    from smlocal.jobfile.document import Document
    from smlocal.platforms.job_files import AnyJobFile

_STEP = re.compile(r"([A-Za-z][A-Za-z0-9]*)((?:\[\d{1,4}\])*)")
_MAPS = ("HyperParameters.", "Environment.", "Local.Sources.", "Local.Endpoints.")
"""Maps whose keys are chosen by the user. The rest of a path is one key, which may have dots."""


def read_recorded(
    recorded: str,
    given: Overrides,
    *,
    members: Mapping[str, Any],
    strict: bool,
    defaults: Overrides | None = None,
    changed_by: str = "command line",
    on_message: Callable[[str], None] = lambda _: None,
) -> tuple["AnyJobFile", str]:
    """The validated job of another run, and its name. Paths in the record start where they started the first time."""
    from smlocal.api.job_source import read_document
    from smlocal.api.local_overrides import apply_local_overrides
    from smlocal.job.documents import JOB, LOCAL, RECALL
    from smlocal.jobfile.document import RanBefore, recorded_document
    from smlocal.platforms.job_files import is_replica_job, read_again
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        job, plan = store.document(recorded, JOB), store.document(recorded, RECALL)
        image_id = (store.document(recorded, LOCAL) or {}).get("Image")
    document = recorded_document(job, name=f"the request of {recorded}")
    document.overrides = changed_by
    if is_replica_job(document.data):
        for path, value in members.items():
            document.set(member_path(path), value)
        return read_again(document, name=apply_local_overrides(document, given), recorded=recorded, strict=strict)
    if image_id:
        image = ((job["Data"].get("AlgorithmSpecification") or {}).get("TrainingImage")) or ""
        document.ran_before = RanBefore(job=recorded, image=image, image_id=image_id)
    document.set(("TrainingJobName",), _new_name(recorded))
    if plan is not None:  # else it was submitted, and the record names the folder
        _keep_output(document, os.path.dirname(plan["output"]["directory"]))
    for path, value in members.items():
        document.set(member_path(path), value)
    if defaults is not None:
        from smlocal.api.overrides import apply_defaults

        apply_defaults(document, defaults, origin="configuration file")
    return read_document(document, given, path=None, fill_in=False, strict=strict, on_message=on_message)


def member_path(text: str) -> "Path":
    """The place of a member from its path: `InputDataConfig[0].ChannelName`."""
    parent = next((each for each in _MAPS if text.startswith(each) and text != each), None)
    if parent is not None:
        return (*parent.rstrip(".").split("."), text.removeprefix(parent))
    steps: list[str | int] = []
    for part in text.split("."):
        found = _STEP.fullmatch(part)
        if found is None:
            raise UsageRefusedError(
                f"{text!r} is not the path of a member",
                remedy=["Write it like ResourceConfig.InstanceCount or InputDataConfig[0].ShuffleConfig.Seed."],
            )
        steps += [found[1], *(int(index) for index in re.findall(r"\d+", found[2]))]
    return tuple(steps)


def _new_name(recorded: str) -> str:
    from datetime import datetime

    from smlocal.contract.made_names import without_time
    from smlocal.platforms.sagemaker.contract.identity import default_name

    return default_name(without_time(recorded), datetime.now().astimezone())


def _keep_output(document: "Document", folder: str) -> None:
    """Without an output folder in the request, the job wrote to one in the folder where it was started."""
    local = document.data.get("Local") or {}
    remote = document.data["OutputDataConfig"]["S3OutputPath"].startswith(("s3://", "https://"))
    if remote and not local.get("Output"):
        document.set(("Local", "Output"), folder)
