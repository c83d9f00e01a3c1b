"""SDK v2 in its local mode: a job with one channel; prints the seconds of `fit`: IMAGE CHANNEL OUTPUT."""

import os
import sys
import time
from typing import NoReturn

import sagemaker.telemetry.telemetry_logging as telemetry
from sagemaker.estimator import Estimator


def refuse(*_: object) -> NoReturn:
    print("the SDK would send telemetry, although TelemetryOptOut is set", file=sys.stderr, flush=True)
    os._exit(3)  # the SDK catches everything here


telemetry._send_telemetry_request = refuse  # noqa: SLF001 - a benchmark sends nothing to anybody
image, channel, output = sys.argv[1:]
estimator = Estimator(
    image_uri=image,
    role="arn:aws:iam::123456789012:role/training",
    instance_count=1,
    instance_type="local",
    output_path=f"file://{output}",
)
began = time.perf_counter()
estimator.fit({"train": f"file://{channel}"})
print(time.perf_counter() - began)
