"""Pack a model."""

import sys
import time
from pathlib import Path

from smlocal.data.artifacts import gzip_stream  # noqa: F401 - its import is not counted
from smlocal.data.artifacts.archive import write_archive
from smlocal.data.artifacts.tree import walk

model, archive, result = sys.argv[1:]
began = time.perf_counter()
write_archive([walk("algo-1", model)], archive)
Path(result).write_text(str(time.perf_counter() - began))
