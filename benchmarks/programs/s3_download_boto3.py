"""Objects of S3 into files by boto3, one after another: PREFIX FOLDER RESULT."""

import os
import sys
import time

import boto3

prefix, target, result = sys.argv[1:]
client = boto3.client("s3")
client.list_buckets()
began = time.perf_counter()
for page in client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix):
    for each in page["Contents"]:
        client.download_file("bucket", each["Key"], f"{target}/{os.path.basename(each['Key'])}")
took = time.perf_counter() - began
with open(result, "w", encoding="utf-8") as file:
    file.write(str(took))
