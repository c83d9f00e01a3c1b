"""Read an object by our client, to nowhere."""

import sys
import time
from pathlib import Path

from smlocal.data.sources.s3.client import open_store
from smlocal.data.sources.s3.object_stream import ObjectStream
from smlocal.terms.rights import EVERYTHING

result, _ = sys.argv[1:]
store = open_store("eu-west-1", rights=EVERYTHING)
wanted = store.head("bucket", "object")
began = time.perf_counter()
stream = ObjectStream(store, [wanted])
stream.open_next()
count = 0
while more := len(stream.read()):
    count += more
Path(result).write_text(str(time.perf_counter() - began))
assert count == wanted.size
