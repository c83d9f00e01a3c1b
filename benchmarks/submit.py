"""How fast `smlocal submit` uploads a channel, against `aws s3 cp --recursive`, and how fast a second submit is.

Both sides are whole commands that send to the same rclone server on this machine. The service is `smlocal serve`. Its
jobs fail at once, because their image is nowhere, and have ended before the next command begins.
"""

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from botocore.exceptions import WaiterError
from endpoint_server import ROLE, Server, smlocal_server
from measure import Samples, alternate, execute, progress
from results import Figure, Size, comparison, main
from s3_server import configuration, rclone_server
from workplace import BIN, ROOT, Workplace, workplace

UPLOAD_BOUND = 1.0
AGAIN_BOUND = 0.2
COUNT = 5000
BYTES = 20 << 10
IMAGE = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/smlocal-benchmark-submit:none"
REQUIREMENTS = ROOT / "tests" / "clients" / "requirements" / "aws-cli.txt"


@dataclass(kw_only=True)
class Submits:
    place: Workplace
    job: Path
    bucket: Path
    service: Server
    environment: dict[str, str]
    numbers: Iterator[int]
    prefix: str = ""

    def submit(self) -> float:
        """To the prefix of the last `clear`."""
        name = f"benchmark-submit-{os.getpid()}-{next(self.numbers)}"
        command: list[str | Path] = [BIN / "smlocal", "submit", self.job, "--upload-to", self.prefix, "--name", name]
        took = execute([*command, "--yes", "--no-wait"], environment=self.environment).seconds
        with suppress(WaiterError):  # it has failed
            waiter = self.service.client().get_waiter("training_job_completed_or_stopped")
            waiter.wait(TrainingJobName=name)
        return took

    def first(self) -> float:
        self.clear()
        return self.submit()

    def clear(self) -> None:
        """From now on to another prefix: rclone lists what it has seen for minutes."""
        self.prefix = f"s3://bucket/{next(self.numbers)}"
        for entry in self.bucket.iterdir():
            shutil.rmtree(entry)
        self.place.clear()


def measure(size: Size) -> list[Figure]:
    count = size.of(COUNT)
    aws = subprocess.run(
        [ROOT / "scripts" / "client-environment", REQUIREMENTS], stdout=subprocess.PIPE, text=True, check=True
    )
    with workplace() as place:
        progress(f"making {count} files")
        data = place.folder / "data"
        data.mkdir()
        for number in range(count):
            (data / f"{number:06}").write_bytes(number.to_bytes(8, "big") * (BYTES // 8))
        with _ready(place, data) as submits:
            copy: list[str | Path] = [
                f"{aws.stdout.strip()}/bin/aws",
                "s3",
                "cp",
                "--recursive",
                "--only-show-errors",
                data,
            ]

            def copied() -> float:
                submits.clear()
                return execute([*copy, f"{submits.prefix}/"], environment=submits.environment).seconds

            ours, theirs = alternate(submits.first, copied, rounds=size.rounds, name="upload")
            submits.first()
            again = Samples(values=tuple(submits.submit() for _ in range(size.rounds)))
    what = f"submit of {count:,} files of 20 KiB"
    return [
        comparison(f"{what} ÷ `aws s3 cp --recursive`", ours, theirs, UPLOAD_BOUND),
        comparison(f"second {what}, nothing changed ÷ the first", again, ours, AGAIN_BOUND),
    ]


@contextmanager
def _ready(place: Workplace, data: Path) -> Iterator[Submits]:
    served = place.folder / "served"
    (served / "bucket").mkdir(parents=True)
    source = {"S3DataType": "S3Prefix", "S3Uri": str(data), "S3DataDistributionType": "FullyReplicated"}
    request = {
        "RoleArn": ROLE,
        "AlgorithmSpecification": {"TrainingImage": IMAGE, "TrainingInputMode": "File"},
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
    }
    job = place.folder / "job.json"
    job.write_text(json.dumps(request))
    with rclone_server(served, writable=True) as address, smlocal_server(place.environment) as service:
        environment = {
            **place.environment,
            **configuration(address),
            "AWS_ENDPOINT_URL": service.address,
            "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",  # rclone does not know trailers
            "SMLOCAL_HOME": f"{place.folder}/another-home",
        }
        yield Submits(
            place=place,
            job=job,
            bucket=served / "bucket",
            service=service,
            environment=environment,
            numbers=itertools.count(1),
        )


if __name__ == "__main__":
    main(measure)
