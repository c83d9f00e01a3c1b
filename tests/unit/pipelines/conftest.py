"""The server without a port that steps make things by."""

from tests.unit.endpoint.conftest import serving

__all__ = ["serving"]
