"""Objects of S3 into files by boto3 in eight threads: PREFIX FOLDER RESULT."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

prefix, target, result = sys.argv[1:]
client = boto3.client("s3", config=Config(max_pool_connections=16))
client.list_buckets()
settings = TransferConfig(use_threads=False)


def fetch(key: str) -> None:
    client.download_file("bucket", key, f"{target}/{os.path.basename(key)}", Config=settings)


began = time.perf_counter()
with ThreadPoolExecutor(8) as pool:
    for page in client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix):
        list(pool.map(fetch, [each["Key"] for each in page["Contents"]]))
took = time.perf_counter() - began
with open(result, "w", encoding="utf-8") as file:
    file.write(str(took))
