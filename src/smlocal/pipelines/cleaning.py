"""What a Cleanup step does: it deletes outputs of earlier steps, where they are on this machine."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smlocal.base.files import remove_tree
from smlocal.pipelines.known_values import path_in
from smlocal.sagemaker.pipelines.stored import StoredStep
from smlocal.sagemaker.pipelines.values import ValueUnknownError

Outcome = dict[str, list[Any]]


def clean(sources: Sequence[Mapping[str, Any]], steps: Mapping[str, StoredStep]) -> Outcome:
    """Delete the outputs of each source; returns the metadata of the step. What is gone already counts as deleted.

    `sources`: each has the name of a step, and the objects to delete; without them the model of a training job.
    """
    outcome: Outcome = {"CleanedSteps": [], "FailedSteps": [], "SkippedSteps": []}
    for source in sources:
        name = source["StepName"]
        step = steps.get(name)
        given = source.get("S3Uris")
        if step is None or not step.folders or (given is None and step.listed.type != "Training"):
            outcome["SkippedSteps"].append(name)
            continue
        troubles = list(_delete(given, step))
        if troubles:
            failure = {"StepName": name, "ErrorCode": "ClientError", "ErrorMessage": "; ".join(troubles)[:2_048]}
            outcome["FailedSteps"].append(failure)
        else:
            outcome["CleanedSteps"].append(name)
    return outcome


def _delete(given: Sequence[Any] | None, step: StoredStep) -> Iterator[str]:
    """Why something was not deleted."""
    for uri in step.folders if given is None else given:
        try:
            path = path_in(step.folders, str(uri))
            if path is None or (os.path.isdir(path) and given is not None):
                yield f"{uri} is not an object in an output of the step"
            else:
                remove_tree(path)
        except (OSError, ValueUnknownError) as error:
            yield f"{uri}: {getattr(error, 'strerror', None) or error}"
