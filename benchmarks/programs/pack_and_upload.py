"""Pack a model, and upload it meanwhile."""

import sys
import time
from pathlib import Path

from smlocal.data.artifacts import gzip_stream  # noqa: F401 - its import is not counted
from smlocal.data.artifacts.archive import write_archive
from smlocal.data.artifacts.s3_publish import Publisher
from smlocal.data.artifacts.tree import walk
from smlocal.data.sources.s3.client import open_store
from smlocal.data.sources.s3.writer import UploadTarget
from smlocal.terms.rights import EVERYTHING

model, archive, result = sys.argv[1:]
store = open_store("eu-west-1", rights=EVERYTHING)
began = time.perf_counter()
with Publisher(lambda: store, UploadTarget(bucket="bucket", key="job/output/")) as publisher:
    write_archive([walk("algo-1", model)], archive, reader=publisher)
    published = publisher.finish()
assert published.objects, published
Path(result).write_text(str(time.perf_counter() - began))
