"""Random operations in a mirrored folder, in any order."""

import shutil
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit import examples
from tests.unit.data.artifacts.mirror.mirror_rig import Rig, files_in

NAMES = st.sampled_from(["a", "b", "c", "d"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), PATHS, st.text("xyz", max_size=3)),
        st.tuples(st.just("delete"), PATHS),
        st.tuples(st.just("rename"), PATHS, PATHS),
        st.tuples(st.just("link"), PATHS, PATHS),
        st.tuples(st.just("folder"), PATHS),
        st.tuples(st.just("pause")),
        st.tuples(st.just("crash")),
    ),
    max_size=25,
)


def carry_out(rig: Rig, folder: Path, operation: tuple[str, ...]) -> None:
    """Do it, if it can be done."""
    kind, *arguments = operation
    paths = [folder / argument for argument in arguments]
    try:
        if kind == "write":
            paths[0].parent.mkdir(parents=True, exist_ok=True)
            paths[0].write_text(arguments[1])
        elif kind == "delete":
            shutil.rmtree(paths[0]) if paths[0].is_dir() else paths[0].unlink()
        elif kind == "rename":
            paths[0].rename(paths[1])
        elif kind == "link":
            paths[1].hardlink_to(paths[0])
        elif kind == "folder":
            paths[0].mkdir(parents=True)
        elif kind == "pause":
            time.sleep(0.15)
        else:
            rig.stop()
            rig.resume()
    except OSError:
        pass


@pytest.mark.slow
@settings(max_examples=examples(50))
@given(before=st.dictionaries(NAMES, st.text("xyz", max_size=3)), operations=OPERATIONS)
def test_whatever_is_done_the_target_is_the_same_in_the_end(
    before: dict[str, str], operations: list[tuple[str, ...]]
) -> None:
    with TemporaryDirectory() as folder, closing(Rig(Path(folder) / "rig")) as made:
        hold_in_the_end(made, before, operations)


def hold_in_the_end(made: Rig, before: dict[str, str], operations: list[tuple[str, ...]]) -> None:
    made.target.mkdir()
    for name, content in before.items():
        (made.target / name).write_text(content)
    folder = made.start()
    for operation in operations:
        carry_out(made, folder, operation)
    made.finish()
    assert files_in(made.target) == files_in(folder)
    assert [
        each for each in made.notes if "scanned every" not in each
    ] == []  # as it is where nothing tells what changes
