"""Objects of a prefix into files, one after the other."""

import os
import sys
import time
from pathlib import Path

import boto3

prefix, target, result = sys.argv[1:]
client = boto3.client("s3")
client.list_buckets()
began = time.perf_counter()
for page in client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix):
    for each in page["Contents"]:
        client.download_file("bucket", each["Key"], f"{target}/{os.path.basename(each['Key'])}")
Path(result).write_text(str(time.perf_counter() - began))
