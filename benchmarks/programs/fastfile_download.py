"""Download an object by our client."""

import sys
import time
from pathlib import Path

from smlocal.data.sources.s3.client import open_store
from smlocal.data.sources.s3.download import download_all
from smlocal.terms.rights import EVERYTHING

result, folder = sys.argv[1:]
store = open_store("eu-west-1", rights=EVERYTHING)
wanted = store.head("bucket", "object")
Path(folder).mkdir()
began = time.perf_counter()
download_all(store, [(wanted, f"{folder}/object")])
Path(result).write_text(str(time.perf_counter() - began))
