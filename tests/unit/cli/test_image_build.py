"""`--build`: what is refused before anything is built, and which name an image gets."""

from pathlib import Path

import pytest
from tests.kit import Run

from smlocal.cli.image_build import folder_image, with_built_image


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "My image"
    made.mkdir()
    (made / "Dockerfile").write_text("FROM scratch\n")
    return made


def test_the_name_of_an_image_without_one(folder: Path) -> None:
    assert folder_image(str(folder)) == "my-image:latest"
    assert folder_image("/") == "my-image:latest"
    given = {"build": str(folder), "image": None, "pull": None}
    assert with_built_image(given, image_needed=True) == {**given, "image": "my-image:latest", "pull": "missing"}
    assert with_built_image(given, image_needed=False) == {**given, "pull": "missing"}
    named = {**given, "image": "x:1", "pull": "never"}
    assert with_built_image(named, image_needed=True) == named
    assert with_built_image({"build": None}, image_needed=True) == {"build": None}


def test_a_folder_without_a_dockerfile(smlocal: Run, tmp_path: Path) -> None:
    for folder in (tmp_path / "none", tmp_path):
        done = smlocal("run", "--build", folder)
        assert done.returncode == 2
        assert f"cannot read the Dockerfile {folder}/Dockerfile: No such file or directory" in done.stderr
        assert "[dockerfile-missing]" in done.stderr


def test_pulling_what_is_built(folder: Path, smlocal: Run) -> None:
    done = smlocal("run", "--build", folder, "--pull", "always")
    assert done.returncode == 2
    assert "an image that was just built is not pulled" in done.stderr
    digest = smlocal("run", "--build", folder, "--image", f"x@sha256:{'0' * 64}")
    assert digest.returncode == 2
    assert "which a new image cannot get" in digest.stderr
