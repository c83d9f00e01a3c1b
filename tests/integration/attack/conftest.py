"""A server of a test's own."""

from tests.integration.server.conftest import endpoint, make_endpoint

__all__ = ["endpoint", "make_endpoint"]
