"""Documents for the tests of this room, as small as they may be."""

from typing import Any

Document = dict[str, Any]


def host(name: str = "algo-1", *, case: str = "everything", job: str = "job-a", **more: Any) -> Document:
    variables = {"TRAINING_JOB_NAME": job, "AWS_REGION": "us-east-1"}
    return {"Schema": 1, "Case": case, "Host": name, "Environment": variables, **more}


def whole(*hosts: Document, case: str = "everything", **ends: Any) -> Document:
    return {"Schema": 1, "Smlocal": "0", "Jobs": {case: {**ends, "Hosts": {each["Host"]: each for each in hosts}}}}
