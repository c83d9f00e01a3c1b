"""Objects of S3 into files by smlocal's client: PREFIX FOLDER RESULT."""

import os
import sys
import time

from smlocal.data.sources.s3.client import open_store
from smlocal.data.sources.s3.download import download_all
from smlocal.terms.rights import EVERYTHING

prefix, target, result = sys.argv[1:]
store = open_store("eu-west-1", rights=EVERYTHING)
began = time.perf_counter()
found = store.list_objects("bucket", prefix)
download_all(store, ((each, f"{target}/{os.path.basename(each.key)}") for each in found))
took = time.perf_counter() - began
with open(result, "w", encoding="utf-8") as file:
    file.write(str(took))
