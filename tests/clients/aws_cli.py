"""Both versions of the AWS CLI. The second is on PyPI in a package alone that carries it for AWS Lambda."""

import os
import platform
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from tests.clients.conftest import client_folder

SECOND = "2.38.5"
"""The version that the package of `aws-cli-2.txt` has."""
_OF_HELP = "/awscli/examples/"


def first_version() -> Path:
    return client_folder("aws-cli") / "bin" / "aws"


def second_version() -> Path:
    if platform.machine() != "x86_64":
        pytest.skip("the package has the program for x86_64 alone")
    folder = client_folder("aws-cli-2")
    unpacked = folder / "unpacked"
    if not unpacked.is_dir():
        _unpack(folder, unpacked)
    (program,) = unpacked.glob("awscli/v2/*/dist/aws")
    assert program.parent.parent.name == SECOND
    return program


def _unpack(folder: Path, unpacked: Path) -> None:
    """Aside first, because others may be at it too."""
    (package,) = folder.glob("lib/python3*/site-packages/aws_cdk/asset_awscli_v2/_jsii/*.tgz")
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        with tarfile.open(package) as tar:
            tar.extract("package/lib/layer.zip", aside, filter="data")
        with zipfile.ZipFile(Path(aside, "package/lib/layer.zip")) as layer:
            for member in layer.infolist():
                if _OF_HELP not in member.filename:
                    path = layer.extract(member, Path(aside, "unpacked"))
                    os.chmod(path, 0o755)
        with suppress(OSError):
            Path(aside, "unpacked").rename(unpacked)
