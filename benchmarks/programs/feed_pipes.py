"""Feed the object in ROOT, or in S3 if that is empty, into FIFOs in FOLDER until stdin ends: ROOT FOLDER SPOOL."""

import sys

from smlocal.data.channels.pipe.feeder import PipeFeeder
from smlocal.data.sources.s3.client import open_store
from smlocal.terms.channels import PipePlan
from smlocal.terms.listing import Listing
from smlocal.terms.rights import EVERYTHING

root, folder, spool = sys.argv[1:]
listing = Listing(
    root=root,
    bucket_uri="s3://bucket/",
    prefix="",
    key_base="",
    paths=["object"],
    total_bytes=None,
    whole_tree=False,
)
plan = PipePlan(name="train", uri="", target="/opt/ml/input/data/train", listing=listing)
feeder = PipeFeeder(
    plan,
    directory=folder,
    spool=spool,
    store=lambda: open_store("eu-west-1", rights=EVERYTHING),
    broken=lambda *said: print(*said, file=sys.stderr),
)
feeder.prepare()
feeder.start()
print("ready", flush=True)
sys.stdin.read()
feeder.stop()
with open("/proc/self/status", encoding="utf-8") as file:
    print(next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM")))
