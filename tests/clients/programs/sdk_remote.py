"""SDK v2 and v3: functions with the decorator `@remote`, one of which fails, and one in an image without the SDK."""

import json
import sys
from typing import Any

import sagemaker

if getattr(sagemaker, "__version__", "3").startswith("2"):
    from sagemaker.remote_function import RemoteExecutor, remote
    from sagemaker.remote_function.errors import RemoteFunctionError
    from sagemaker.remote_function.runtime_environment.runtime_environment_manager import RuntimeEnvironmentError
else:
    from sagemaker.core.remote_function import RemoteExecutor, remote
    from sagemaker.core.remote_function.errors import RemoteFunctionError
    from sagemaker.core.remote_function.runtime_environment.runtime_environment_manager import RuntimeEnvironmentError

image, without = sys.argv[1:]
settings: dict[str, Any] = {"role": "arn:aws:iam::123456789012:role/remote", "instance_type": "ml.m5.large"}


def divide(one: int, other: int) -> float:
    print("dividing")
    return one / other


found = remote(divide, image_uri=image, **settings)(6, 3)
failed = ""
with RemoteExecutor(image_uri=image, max_parallel_jobs=2, **settings) as executor:
    futures = [executor.submit(divide, 1, each) for each in (4, 0)]
results = [futures[0].result()]
try:
    futures[1].result()
except ZeroDivisionError as error:
    failed = str(error)
try:
    remote(divide, image_uri=without, **settings)(6, 3)
except (RemoteFunctionError, RuntimeEnvironmentError) as error:
    missing = f"{type(error).__name__}: {error}"
print()
print(json.dumps({"found": found, "results": results, "failed": failed, "missing": missing}))
