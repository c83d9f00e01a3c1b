"""The memory of images."""

import os
from pathlib import Path

from tests.unit.check.images import ID, LINK, file, layer, program, read

from smlocal.check.check_image import store_image, stored_image
from smlocal.check.image_files import NAMES, PROGRAMS, SCRIPTS

ODD = b"f\xff".decode("utf-8", "surrogateescape")
WISHES = (NAMES, PROGRAMS, SCRIPTS)
SAVED = read(
    layer(program("bin/train", bytes(range(256))), file("l", kind=LINK, link=ODD)), layer(file(f"x/{ODD}", uid=2**31))
)


def test_what_is_kept_comes_back_as_it_was(tmp_path: Path) -> None:
    home = str(tmp_path)
    assert stored_image(home, ID, WISHES) is None
    store_image(home, ID, WISHES, SAVED)
    again = stored_image(home, ID, WISHES)
    assert again == SAVED
    assert os.stat(tmp_path / "checked-images").st_mode & 0o077 == 0


def test_another_image_or_other_wishes_are_not_kept(tmp_path: Path) -> None:
    store_image(str(tmp_path), ID, WISHES, SAVED)
    assert stored_image(str(tmp_path), "sha256:other", WISHES) is None
    assert stored_image(str(tmp_path), ID, (NAMES,)) is None


def test_a_damaged_file_is_as_none(tmp_path: Path) -> None:
    store_image(str(tmp_path), ID, WISHES, SAVED)
    (path,) = (tmp_path / "checked-images").iterdir()
    whole = path.read_text()
    lines = whole.splitlines(keepends=True)
    for content in ("", "{", "[]", "[1]\n", "".join(lines[:-1]), "".join(lines[:3]), "[[],[]]\n" + "".join(lines[1:])):
        path.write_text(content)
        assert stored_image(str(tmp_path), ID, WISHES) is None
    path.write_text(whole)
    assert stored_image(str(tmp_path), ID, WISHES) == SAVED


def test_what_could_not_be_read_is_not_remembered(tmp_path: Path) -> None:
    from dataclasses import replace

    store_image(str(tmp_path), ID, WISHES, replace(SAVED, files=replace(SAVED.files, unread=("a layer is damaged",))))
    assert list(tmp_path.iterdir()) == []


def test_only_the_last_images_are_remembered(tmp_path: Path) -> None:
    for number in range(33):
        store_image(str(tmp_path), f"sha256:{number}", WISHES, SAVED)
    assert len(list((tmp_path / "checked-images").iterdir())) == 30


def test_a_home_that_takes_nothing_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "checked-images").write_text("a file")
    store_image(str(tmp_path), ID, WISHES, SAVED)
    assert stored_image(str(tmp_path), ID, WISHES) is None
