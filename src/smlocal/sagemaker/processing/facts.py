"""Facts about processing jobs: paths, numbers and sentences of the service."""

from typing import Final

NAME: Final = "sagemaker_processing"
"""The kind of job in plans and records."""
IN_ARN: Final = "processing-job"
ROOT: Final = "/opt/ml"
CONFIG: Final = "/opt/ml/config"
PROCESSING: Final = "/opt/ml/processing"
"""Inputs and outputs are below it."""
OUTPUT: Final = "/opt/ml/output"
MESSAGE: Final = "/opt/ml/output/message"
"""The file whose text is the ExitMessage."""
MOST_COUNTED: Final = 10_000
"""The most files counted in one host's output (our limit)."""
MESSAGE_BYTES: Final = 1024
MAX_RUNTIME: Final = 86_400
"""Seconds that a job may run which says nothing about it: the value of the developer guide's example."""
VOLUME_GB: Final = 30
"""As the SDKs ask for."""
NOT_UTF_8: Final = f"The exit message in {MESSAGE} is not UTF-8 encoded"
"""Documented is that the job fails with a ClientError; its words are ours."""
