"""The name of the platform."""

from typing import Final

NAME: Final = "sagemaker"
