"""The exceptions of readers of damaged gzip data. It imports isal."""

import zlib
from typing import Final, cast

from isal import igzip, igzip_lib

ISAL_ERROR: Final = cast("type[Exception]", igzip_lib.IsalError)  # which its types call an instance
"""Of the compressed data itself. It is no `zlib.error`."""
GZIP_ERRORS: Final = (igzip.BadGzipFile, EOFError, zlib.error, ISAL_ERROR)
