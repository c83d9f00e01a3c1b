"""The name of the platform."""

from typing import Final

NAME: Final = "ai_platform"
