"""The commands of README.md and docs/, run page by page as a reader would type them, and the demo."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.docs.typed_commands import type_commands
from tests.kit.doc_blocks import PAGES, ROOT, blocks
from tests.kit.fixtures import build_image
from tests.kit.s3_servers import S3Servers

_PAGES = [name for name, page in PAGES.items() if any(any(block.commands()) for block in blocks(page))]
_AT_THE_TOP = {"README.md", "docs/examples.md"}
"""A reader of these begins in the clone, of the others in a folder with a job file and its data."""
_LAST = "$(smlocal jobs --limit 1 | awk 'NR == 2 { print $1 }')"
_TREE = "smlocal run job.yaml --name my-tree"
_TO_S3 = "sed -i 's|S3OutputPath: ./out|S3OutputPath: s3://my-bucket/models|' job.yaml"
_ROLE = "echo 'RoleArn: arn:aws:iam::123456789012:role/trainer' >>job.yaml"
_BEFORE = {
    "docs/data.md": """
        for folder in train validation; do
            sed -i "s|S3Uri: .*|S3Uri: s3://my-bucket/$folder/|" job.yaml
            smlocal run job.yaml
        done""",
    "docs/checkpoints.md": _TO_S3,
    "docs/credentials.md": _ROLE,
    "docs/metrics.md": f"""
        defined='MetricDefinitions: [{{Name: accuracy, Regex: "accuracy=([0-9.]+)"}}]'
        sed -i "s|^  TrainingInputMode.*|&\\n  $defined|" job.yaml
        {_TREE}""",
    "docs/publish.md": f"{_TO_S3}; smlocal run job.yaml --name my-job",
    "docs/result.md": f"""
        {_TREE}
        smlocal run --name two --image my-image --instance-count 2 --output ./out
        for name in stopped docs-bad docs-tree; do smlocal run --name $name --image my-image --output ./out; done""",
    "docs/run.md": """
        smlocal run --detach --name my-tree --image my-shell --output ./out \\
            --env 'SCRIPT=trap "sleep 4; exit 0" TERM; while :; do sleep 0.1; done'
        mkdir src; touch src/train.py""",
    "docs/service.md": _TREE,
    "docs/secrets.md": "export HF_TOKEN=hidden; echo HF_TOKEN=hidden >.env",
}
"""Steps that the reader of a page has done by then."""
_PRINTED = {
    "docs/tutorial-serve.md": {
        "smlocal run train.yaml --build . --name first": "epoch=4 loss=22.184878",
        "smlocal describe rates": "Completed",
        "smlocal invoke line --body request.csv --content-type text/csv": "9.99",
        "cat predictions/all.csv.out": "10.00\n12.00\n14.00",
    }
}
"""What commands of a page print, where the page says it."""


@pytest.mark.slow(42)
@pytest.mark.long
@pytest.mark.parametrize("name", _PAGES)
def test_commands(
    name: str, tmp_path: Path, smlocal_home: Path, s3_servers: S3Servers, image: Callable[[str | Path], str]
) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / "examples", clone / "examples", ignore=shutil.ignore_patterns("out"))
    (clone / "scripts").symlink_to(ROOT / "scripts")
    for example in ("hello", "decision-tree"):
        subprocess.run(
            [ROOT / "scripts" / "image", ROOT / "examples" / example / "image", f"smlocal-example-{example}"],
            check=True,
            timeout=600,
        )
    s3 = s3_servers("moto")
    server = s3.environment["AWS_ENDPOINT_URL_S3"]
    bucket = s3.make_bucket()
    for folder in ("train", "validation"):
        s3.put(bucket, f"{folder}/iris.csv", (clone / "examples/decision-tree/data/iris.csv").read_bytes())
    stand_ins = {
        "my-image": build_image(ROOT / "benchmarks" / "images" / "no-op"),
        "my-shell": image("sh"),
        "python:3.11-slim": image("py"),
        "my-bucket": bucket,
        "http://127.0.0.1:9000": server,
        r"\bNAME\b": _LAST,
        r"decision-tree-\d{8}-\d{6}-\d+": _LAST,
    }

    def here(text: str) -> str:
        for placeholder, real in stand_ins.items():
            text = re.sub(placeholder, real, text)
        return text

    start = clone if name in _AT_THE_TOP else clone / "examples" / "decision-tree"
    outside = {key: value for key, value in os.environ.items() if not key.startswith(("SMLOCAL_", "AWS_"))}
    aws = {**s3.environment, "AWS_ENDPOINT_URL_STS": server}
    for typed in type_commands(
        blocks(PAGES[name]),
        cwd=start,
        scratch=tmp_path,
        environment={**outside, **aws, "SMLOCAL_HOME": str(smlocal_home), "HOME": str(tmp_path)},
        before=here(_BEFORE.get(name, "")),
        here=here,
    ):
        assert typed.ended == typed.expected, f"{name}:{typed.block.line} {typed.command}\n{typed.output}"
        assert _PRINTED.get(name, {}).get(typed.command, "") in typed.output, typed.output


@pytest.mark.slow(13)
@pytest.mark.long
def test_the_demo(smlocal_home: Path) -> None:
    results = ROOT / "examples" / "decision-tree" / "out"
    before = set(results.iterdir()) if results.exists() else set()
    try:
        done = subprocess.run(
            [ROOT / "scripts" / "demo"],
            env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    finally:
        for folder in set(results.iterdir()) - before:
            shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr
    assert "decision-tree-model.pkl" in done.stdout
    assert "Completed in " in done.stderr
