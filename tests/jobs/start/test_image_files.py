"""Files that an image keeps below /opt/ml: named before the start, and looked for once for each image."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import Run
from tests.kit.fixtures import IMAGES

pytestmark = pytest.mark.usefixtures("new_home")
NAMED = "the image has files below /opt/ml, which SageMaker reserves and may hide: "


def test_they_are_named_and_the_image_is_looked_at_once(
    job_file: Callable[..., Path], smlocal_run: Run, smlocal_home: Path
) -> None:
    path = job_file([], "", runs="baked")
    ran = smlocal_run("run", path)
    assert ran.returncode == 0, ran.stderr
    assert NAMED in ran.stderr
    assert "/opt/ml/input/data/training/baked, /opt/ml/model/baked, /opt/ml/output/data/baked" in ran.stderr
    assert "/opt/ml/code" not in ran.stderr

    # Remembered answers are given without another look.
    remembered = json.loads((smlocal_home / "images.json").read_text())
    ((image, known),) = remembered.items()
    changed = {image: {**known, "Files": ["/opt/ml/remembered"]}}
    (smlocal_home / "images.json").write_text(json.dumps(changed))
    planned = smlocal_run("plan", path)
    assert f"{NAMED}/opt/ml/remembered  [image-reserved-files]" in planned.stdout


def test_a_file_in_the_path_of_an_image_hides_no_note(
    tmp_path: Path, image: Callable[[str | Path], str], smlocal_run: Run, smlocal_home: Path
) -> None:
    """The engine answers with an error of its own where a folder of the PATH is a file."""
    folder = shutil.copytree(IMAGES / "baked", tmp_path / "odd")
    with (folder / "Dockerfile").open("a") as dockerfile:
        dockerfile.write("ENV PATH=/etc/passwd:relative:/usr/local/bin:/bin\n")
        dockerfile.write("RUN mkdir /usr/local/bin/serve\n")
    name = image(folder)
    assert NAMED in smlocal_run("run", "--image", name, "--output", tmp_path / "out").stderr
    remembered = json.loads((smlocal_home / "images.json").read_text())
    assert [known["Serve"] for known in remembered.values()] == [""]  # a folder of that name is none


def test_an_image_without_any_has_no_note(job_file: Callable[..., Path], smlocal_run: Run) -> None:
    planned = smlocal_run("plan", job_file([], "true"))
    assert planned.returncode == 0, planned.stderr
    assert "image-reserved-files" not in planned.stdout


def test_what_killed_looks_have_left_is_removed(
    job_file: Callable[..., Path], smlocal_run: Run, docker: Callable[..., str], image: Callable[[str], str]
) -> None:
    def left(begun: int) -> str:
        labels = ("--label", "smlocal.job=image-look", "--label", f"smlocal.run={begun}")
        return docker("create", *labels, image("sh"), "none").strip()

    old, new = left(int(time.time()) - 700), left(int(time.time()))
    try:
        assert smlocal_run("plan", job_file([], "true")).returncode == 0
        there = docker("ps", "--all", "--no-trunc", "--quiet", "--filter", "label=smlocal.job=image-look").split()
        assert new in there  # another one may be looking
        assert old not in there
    finally:
        docker("rm", "--force", new)
