"""`smlocal exec` beside an S3 server of the user's, which checks signatures."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kit.s3_servers import S3Servers

PROGRAM = """
import boto3, sys
boto3.client("s3").put_object(Bucket=sys.argv[1], Key="by/program", Body=b"1")
print(boto3.client("sts").get_caller_identity()["Arn"])
"""


@pytest.mark.slow(2)
def test_the_program_talks_to_it_with_its_own_keys_and_to_us_for_the_rest(
    s3_servers: S3Servers, smlocal_home: Path
) -> None:
    server = s3_servers("rclone")
    bucket = server.make_bucket()
    ran = subprocess.run(
        [sys.executable, "-m", "smlocal", "exec", "--", sys.executable, "-c", PROGRAM, bucket],
        env={
            **os.environ,
            **server.environment,
            "SMLOCAL_HOME": str(smlocal_home),
            "AWS_ENDPOINT_URL": "http://[::1]:1",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("assumed-role/smlocal/smlocal\n")
    assert server.client().get_object(Bucket=bucket, Key="by/program")["Body"].read() == b"1"
