"""libfuse 3 under the names it has had."""

_NAMES = ("libfuse3.so.4", "libfuse3.so.3")


def libfuse() -> str | None:
    """The name to load it by; None when it is not installed."""
    import ctypes  # 10 ms, for the few jobs that get here

    for name in _NAMES:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return name
    return None
