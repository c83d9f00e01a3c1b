"""A model into an archive: MODEL ARCHIVE RESULT."""

import sys
import time

from smlocal.data.artifacts.archive import write_archive
from smlocal.data.artifacts.tree import walk

model, archive, result = sys.argv[1:]
began = time.perf_counter()
write_archive([walk("algo-1", model)], archive)
with open(result, "w", encoding="utf-8") as file:
    file.write(str(time.perf_counter() - began))
