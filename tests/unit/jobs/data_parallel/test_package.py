import json
import os
from pathlib import Path

from smlocal.jobs.data_parallel.requested import SOURCE, make_records_folder, write_package
from smlocal.jobs.planning.aspects.data_parallel.plan import DataParallelPlan


def test_every_user_can_read_it_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_package(DataParallelPlan(mode="balanced", fusion_buffer_bytes=4096), str(tmp_path / "package"))
        make_records_folder(str(tmp_path / "records"))
    finally:
        os.umask(before)
    modes = {
        str(path.relative_to(tmp_path)): path.stat().st_mode & 0o7777 for path in (tmp_path / "package").rglob("*")
    }
    assert modes.pop("package/bin/smddprun") == 0o755
    assert {mode for name, mode in modes.items() if (tmp_path / name).is_dir()} == {0o755}
    assert {mode for name, mode in modes.items() if (tmp_path / name).is_file()} == {0o644}
    assert (tmp_path / "package").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "records").stat().st_mode & 0o7777 == 0o1777
    assert json.loads((tmp_path / "package" / "settings.json").read_text()) == {
        "Mode": "balanced",
        "FusionBufferBytes": 4096,
        "Strict": False,
        "Records": "/opt/smlocal/records",
    }


def test_it_is_complete(tmp_path: Path) -> None:
    write_package(DataParallelPlan(), str(tmp_path / "package"))
    sources = [path for path in Path(SOURCE).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert len(sources) > 10
    for source in sources:
        assert (tmp_path / "package" / source.relative_to(SOURCE)).read_bytes() == source.read_bytes()
