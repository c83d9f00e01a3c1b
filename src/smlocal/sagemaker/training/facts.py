"""Facts about training jobs."""

from typing import Final

NAME: Final = "sagemaker"
"""The name of the kind in plans and records: it was the only one once."""
IN_ARN: Final = "training-job"
