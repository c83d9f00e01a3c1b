"""The library for PyTorch."""

try:
    import torch
except ModuleNotFoundError as _error:
    if _error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "smdistributed.dataparallel needs PyTorch, and this image has no package torch: install it in the image",
        name="torch",
    ) from None

if int(torch.__version__.partition(".")[0]) < 2:  # noqa: PLR2004 - today's interface of backends
    raise ImportError(
        "smlocal's stand-in for smdistributed.dataparallel needs PyTorch 2.0 or newer, and this image has "
        f"{torch.__version__}"
    )
