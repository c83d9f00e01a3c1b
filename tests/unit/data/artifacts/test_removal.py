import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smlocal.base.files import remove_tree


@pytest.mark.slow(0.5)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_tree_goes(
    data: st.DataObject, tmp_path: Path, plant: Callable[..., Path], any_plan: st.SearchStrategy[Mapping[Any, Any]]
) -> None:
    tree = plant(tmp_path / uuid4().hex / "tree", data.draw(any_plan))
    remove_tree(str(tree))
    assert list(tree.parent.iterdir()) == []


def test_what_is_gone_is_fine(tmp_path: Path) -> None:
    remove_tree(str(tmp_path / "nothing"))


def test_no_link_is_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep me")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(precious)
    (tmp_path / "link").symlink_to(precious)
    remove_tree(str(tmp_path / "tree"))
    remove_tree(str(tmp_path / "link"))
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
    assert (precious / "file").read_text() == "keep me"


@pytest.mark.slow(0.5)
def test_deeper_than_python_recurses_and_longer_than_a_path_may_be(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "os.chdir(sys.argv[1])\n"
        "for _ in range(3000):\n"
        "    os.mkdir('deeper'); os.chdir('deeper')\n"
        "open('file', 'w').close()\n"
    )
    (tmp_path / "tree").mkdir()
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "tree")], check=True)
    remove_tree(str(tmp_path / "tree"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not")
def test_read_only_folders_of_an_ordinary_user(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "file").write_text("x")
    (tree / "roots and empty").mkdir(mode=0o700)
    for path in (tmp_path, tree, tree / "a", tree / "a" / "b", tree / "a" / "b" / "file"):
        os.chown(path, 12345, 12345)
    for folder, mode in ((tree / "a" / "b", 0o000), (tree / "a", 0o500), (tree, 0o555)):
        folder.chmod(mode)
    code = (
        "import os, sys\n"
        "from smlocal.base.files import remove_tree\n"
        "os.chdir(sys.argv[1]); os.setuid(12345)\n"
        "remove_tree('tree')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert not tree.exists(), done.stderr
    assert done.returncode == 0


def test_what_may_not_be_deleted_is_told() -> None:
    with pytest.raises(OSError, match="proc"):
        remove_tree("/proc/self")
