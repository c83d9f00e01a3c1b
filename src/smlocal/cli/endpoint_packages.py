"""Whether the packages of the extra `serve` are installed."""

from smlocal.errors.serving import ServeMissingError

_PACKAGES = ("cryptography", "starlette", "uvicorn")


def check_endpoint_packages() -> None:
    """`ServeMissingError` if one of them is not there."""
    from importlib.util import find_spec

    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise ServeMissingError(
            f"the endpoint needs packages that are not installed: {', '.join(missing)}",
            remedy=["Install them:  pip install 'smlocal[serve]'", "From a clone:  pip install '.[serve]'"],
        )
