"""An archive that is ready, uploaded by boto3: MODEL ARCHIVE RESULT."""

import sys
import time

import boto3

_, archive, result = sys.argv[1:]
client = boto3.client("s3")
client.list_buckets()
began = time.perf_counter()
client.upload_file(archive, "bucket", "job/output/model.tar.gz")
with open(result, "w", encoding="utf-8") as file:
    file.write(str(time.perf_counter() - began))
