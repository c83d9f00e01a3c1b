import tarfile
from pathlib import Path
from typing import Any

from smlocal.data.artifacts.job_artifacts import write_artifacts
from smlocal.data.artifacts.tree import HostTree, walk

FOLDERS: dict[str, Any] = {"model_folder": "/opt/ml/model", "output_folder": "/opt/ml/output/data"}


def trees(root: Path, files: dict[str, str]) -> list[HostTree]:
    """`files` maps `algo-1/a/b` to contents."""
    hosts = sorted({name.split("/")[0] for name in files})
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return [walk(host, str(root / host)) for host in hosts]


def names(archive: Path) -> list[str]:
    with tarfile.open(archive) as members:
        return members.getnames()


def test_the_model_is_every_hosts_and_the_output_only_the_firsts(tmp_path: Path) -> None:
    out = tmp_path / "out" / "job" / "output"
    done = write_artifacts(
        trees(tmp_path / "model", {"algo-1/a": "1", "algo-2/b": "2", "algo-2/a": "2"}),
        trees(tmp_path / "data", {"algo-1/x": "1", "algo-2/y": "2"}),
        **FOLDERS,
        destination=str(out),
    )
    assert (done.model, done.output) == (str(out / "model.tar.gz"), str(out / "output.tar.gz"))
    assert names(out / "model.tar.gz") == ["a", "b"]
    assert names(out / "output.tar.gz") == ["x"]
    assert done.model_bytes == (out / "model.tar.gz").stat().st_size
    assert done.output_bytes == (out / "output.tar.gz").stat().st_size
    assert [(clash.path, clash.winner) for clash in done.clashes] == [("/opt/ml/model/a", "algo-2")]
    assert len(done.notes) == 1
    assert done.notes[0].startswith("algo-2: its files in /opt/ml/output/data are not in output.tar.gz")
    assert sorted(path.name for path in out.iterdir()) == ["model.tar.gz", "output.tar.gz"]


def test_the_output_of_all_on_demand(tmp_path: Path) -> None:
    done = write_artifacts(
        [],
        trees(tmp_path / "data", {"algo-1/x": "1", "algo-2/y": "2"}),
        **FOLDERS,
        destination=str(tmp_path / "out"),
        merge_output=True,
    )
    assert done.model is None
    assert names(tmp_path / "out" / "output.tar.gz") == ["x", "y"]
    assert done.notes == ()


def test_without_compression_only_the_model_is_a_folder(tmp_path: Path) -> None:
    done = write_artifacts(
        trees(tmp_path / "model", {"algo-1/deep/a": "1"}),
        trees(tmp_path / "data", {"algo-1/x": "1"}),
        **FOLDERS,
        destination=str(tmp_path / "out"),
        compression="NONE",
    )
    assert done.model == str(tmp_path / "out" / "model")
    assert (tmp_path / "out" / "model" / "deep" / "a").read_text() == "1"
    assert names(tmp_path / "out" / "output.tar.gz") == ["x"]


def test_nothing_written_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "algo-1").mkdir()
    empty = [walk("algo-1", str(tmp_path / "algo-1"))]
    done = write_artifacts(
        empty,
        empty,
        **FOLDERS,
        destination=str(tmp_path / "out"),
    )
    assert (done.model, done.model_bytes, done.output, done.output_bytes, done.notes) == (None, 0, None, 0, ())
    assert not (tmp_path / "out").exists()
