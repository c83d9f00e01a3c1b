"""A model into an archive that is uploaded meanwhile: MODEL ARCHIVE RESULT."""

import sys
import time

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
with open(result, "w", encoding="utf-8") as file:
    file.write(str(time.perf_counter() - began))
