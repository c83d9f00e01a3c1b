"""A local source in FastFile mode is shown where it lies, or as links where that would show something else."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from smlocal.base.files import Check, no_check
from smlocal.data.channels.copy import prepare_read_only
from smlocal.terms.channels import Means
from smlocal.terms.listing import Listing

Lister = Callable[[Path], Listing]
TARGET = "/opt/ml/input/data/train"


def test_a_whole_tree_is_shown_where_it_lies(tmp_path: Path, listing_of: Lister) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "file").write_bytes(b"data")
    (tmp_path / "link").symlink_to(real)
    staged = prepare_read_only(listing_of(tmp_path / "link"), target=TARGET, target_directory=str(tmp_path / "mine"))
    (mount,) = staged.mounts
    assert (mount.source, mount.target, mount.read_only, mount.volume) == (str(real), TARGET, True, False)
    assert (staged.means, staged.bytes_copied) == (Means.BIND, 0)
    assert not (tmp_path / "mine").exists()


def test_links_that_lead_out_are_followed(tmp_path: Path, listing_of: Lister) -> None:
    (tmp_path / "outside").write_bytes(b"outside")
    data = tmp_path / "data"
    data.mkdir()
    (data / "plain").write_bytes(b"plain")
    (data / "link").symlink_to(tmp_path / "outside")
    listing = listing_of(data)
    assert listing.copy_reasons
    entered = []

    @contextmanager
    def copying() -> Iterator[Check]:
        entered.append(True)
        yield no_check

    staged = prepare_read_only(listing, target=TARGET, target_directory=str(tmp_path / "mine"), copying=copying)
    (mount,) = staged.mounts
    assert mount.read_only
    assert entered == [True]
    shown = Path(mount.source)
    assert {path.name: path.read_bytes() for path in shown.iterdir()} == {"plain": b"plain", "link": b"outside"}
    assert not (shown / "link").is_symlink()
    assert os.path.samefile(shown / "plain", data / "plain")


def test_a_selection_is_shown_without_the_rest(data: Path, listing_of: Lister, tmp_path: Path) -> None:
    listing = replace(listing_of(data), paths=["a/b/deep", "empty"], whole_tree=False)
    (mount,) = prepare_read_only(listing, target=TARGET, target_directory=str(tmp_path / "mine")).mounts
    shown = Path(mount.source)
    assert sorted(str(path.relative_to(shown)) for path in shown.rglob("*")) == ["a", "a/b", "a/b/deep", "empty"]
