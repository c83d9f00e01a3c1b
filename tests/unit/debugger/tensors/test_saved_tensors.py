import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.kit.tensor_files import save_collections

from smlocal.debugger.tensors.saved_tensors import collections_of, read_values, saved_tensors
from smlocal.debugger.tensors.tensor import Damage, Tensor

Saved = Callable[..., None]


def values(folder: Path) -> list[tuple[str, int, str, float | str | None]]:
    found = saved_tensors(str(folder))
    return [
        (each.name, each.step, each.worker, value.single if isinstance(value, Tensor) else str(value))
        for each, value in read_values(str(folder), found.tensors)
    ]


def test_steps_and_workers_are_in_order(saved: Saved, folder: Path) -> None:
    saved(1000, {"loss": np.float32(4)}, mode="EVAL", mode_step=3)
    saved(2, {"loss": np.float32(3)}, worker="worker_1")
    saved(2, {"loss": np.float32(2), "bias": np.float32(0.5)})
    saved(0, {"loss": np.float64(1)}, worker="_job-worker_replica-0_task-0_device-GPU-0")
    assert values(folder) == [
        ("loss", 0, "/job:worker/replica:0/task:0/device:GPU:0", 1.0),
        ("loss", 2, "worker_0", 2.0),
        ("bias", 2, "worker_0", 0.5),
        ("loss", 2, "worker_1", 3.0),
        ("loss", 1000, "worker_0", 4.0),
    ]
    last = saved_tensors(str(folder)).tensors[-1]
    assert (last.mode, last.mode_step) == ("EVAL", 3)


def test_a_damaged_file_does_not_keep_the_others(saved: Saved, folder: Path) -> None:
    for step in range(1, 7):
        saved(step, {"loss": np.float32(step), "gain": np.float32(1)})
    events, index = sorted(folder.rglob("*.tfevents")), sorted(folder.rglob("index/*/*.json"))
    whole = events[0].read_bytes()
    events[0].write_bytes(whole[:-10])
    events[1].unlink()
    events[2].write_bytes(b"")
    index[3].write_text('{"meta": ')
    index[4].write_text("[" * 100_000)
    assert len(values(folder)) == 6  # the missing file may be on its way, and comes before the end
    (folder / "training_job_end.ts").touch()
    found = values(folder)
    assert found[0] == ("loss", 1, "worker_0", 1.0)
    start = len(whole) // 2
    assert found[1][3] == (
        f"{events[0].relative_to(folder)}, byte {start}: the file has {len(whole) - 10} bytes, and the record {start}"
    )
    assert [each[3] for each in found[2:6]] == [
        *[f"{events[1].relative_to(folder)}, byte 0: it cannot be read: No such file or directory"] * 2,
        f"{events[2].relative_to(folder)}, byte 0: the file has 0 bytes, and the record {start}",
        f"{events[2].relative_to(folder)}, byte {start}: the file has 0 bytes, and the record {start}",
    ]
    assert [each[:2] for each in found[6:]] == [("loss", 6), ("gain", 6)]
    assert [(each.file, each.offset) for each in saved_tensors(str(folder)).damaged] == [
        (str(index[3].relative_to(folder)), 9),
        (str(index[4].relative_to(folder)), 0),
    ]


def test_an_index_of_another_file(saved: Saved, folder: Path) -> None:
    saved(1, {"loss": np.float32(1)})
    saved(2, {"loss": np.float32(2)})
    (_, second) = sorted(folder.rglob("index/*/*.json"))
    second.write_text(second.read_text().replace("000000000002", "000000000001"))
    assert values(folder)[1][3] == (
        "events/000000000001/000000000001_worker_0.tfevents, byte 0: the index has loss of step 2 here"
    )


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "{}",
        '{"meta": {}, "tensor_payload": [{}]}',
        '{"meta": {"event_file_name": "../../secret", "mode": "TRAIN", "mode_step": 0}, "tensor_payload": [{}]}',
        '{"meta": {"event_file_name": "/etc/passwd", "mode": "TRAIN", "mode_step": 0}, "tensor_payload": [{}]}',
        '{"meta": {"event_file_name": 7}, "tensor_payload": [{}]}',
        '{"meta": [], "tensor_payload": 7}',
        "\udcff",
    ],
)
def test_an_index_that_is_none(text: str, saved: Saved, folder: Path) -> None:
    saved(1, {"loss": np.float32(1)})
    (index,) = folder.rglob("index/*/*.json")
    index.write_bytes(text.encode(errors="surrogateescape"))
    found = saved_tensors(str(folder))
    assert (found.tensors, [type(each) for each in found.damaged]) == ([], [Damage])


def test_an_index_of_shapes_alone_has_no_tensors(saved: Saved, folder: Path) -> None:
    saved(1, {})
    (index,) = folder.rglob("index/*/*.json")
    index.write_text('{"meta": {"mode": "TRAIN", "mode_step": 1}, "tensor_payload": [], "shape_payload": [{}]}')
    assert (saved_tensors(str(folder)).tensors, saved_tensors(str(folder)).damaged) == ([], [])


def test_links_and_pipes_are_not_followed(saved: Saved, folder: Path) -> None:
    saved(1, {"loss": np.float32(1)})
    (events,) = folder.rglob("*.tfevents")
    kept = events.rename(folder / "kept")
    events.symlink_to(kept)
    assert "it cannot be read: Too many levels of symbolic links" in str(values(folder)[0][3])
    events.unlink()
    os.mkfifo(events)
    assert "it is not a regular file" in str(values(folder)[0][3])


def test_collections(folder: Path) -> None:
    assert collections_of(str(folder)) == {}
    save_collections(folder, losses=["loss"])
    save_collections(folder, worker="worker_1", losses=["other", 7])  # type: ignore[list-item] # as a container may
    below = folder / "collections" / "000000000"
    (below / "worker_2_collections.json").write_text('{"collections": 3}')
    (below / "worker_3_collections.json").write_text("garbage")
    (below / "worker_4_collections.json").write_text('{"collections": {"odd": 3}}')
    assert collections_of(str(folder)) == {"losses": {"loss", "other"}}
