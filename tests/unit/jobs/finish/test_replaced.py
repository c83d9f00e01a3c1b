"""Which artifacts of a replaced job go, and when."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smlocal.api.execution import check_job_name
from smlocal.errors import NotPackedError
from smlocal.jobs.documents import LOCAL, REPLACED
from smlocal.jobs.finish.artifacts import artifacts_to_replace, delete_replaced
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.supervisor import end_job
from smlocal.terms.statuses import COMPLETED


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def old(tmp_path: Path) -> dict[str, Path]:
    """The old job's artifacts: an uncompressed model and an archive."""
    folder = tmp_path / "old"
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "m").write_text("weights")
    (folder / "output.tar.gz").write_text("data")
    return {"Model": folder / "model", "Output": folder / "output.tar.gz"}


def job(store: Store, artifacts: dict[str, Any], replaced: dict[str, list[str]] | None = None) -> None:
    documents = {LOCAL: {"Artifacts": artifacts}, **({REPLACED: replaced} if replaced else {})}
    store.create("job", run_id="1", created=1.0, documents=documents, supervisor_pid=1, replace=True).release()
    end_job(store, "job", COMPLETED, None)


@pytest.mark.parametrize(
    ("new", "completed", "stays"),
    [
        ({}, False, {"Model", "Output"}),
        ({}, True, set()),
        ({"Model": "/elsewhere/model"}, False, {"Output"}),
        ({"Model": "/elsewhere/model", "Output": "/elsewhere/output"}, False, set()),
    ],
)
def test_the_old_go_when_the_new_are_there(
    new: dict[str, str], completed: bool, stays: set[str], store: Store, old: dict[str, Path]
) -> None:
    job(store, {kind: str(path) for kind, path in old.items()})
    job(store, {}, replaced=artifacts_to_replace(store, "job"))
    for _ in range(2):  # a second supervisor says the same
        notes = delete_replaced(store, "job", new, completed=completed)
        assert {kind for kind, path in old.items() if path.exists()} == stays
        assert sorted(note.split(" is from")[0] for note in notes) == sorted(str(old[kind]) for kind in stays)
    # The rest goes with the next job of the name.
    assert artifacts_to_replace(store, "job") == {kind: [str(old[kind])] for kind in sorted(stays)}


def test_what_has_the_place_of_the_old_stays(store: Store, old: dict[str, Path]) -> None:
    replaced = {kind: [str(path)] for kind, path in old.items()}
    job(store, {}, replaced=replaced)
    new = {"Model": str(old["Model"]), "Output": f"{old['Model']}/below/output.tar.gz"}
    assert delete_replaced(store, "job", new, completed=True) == []
    assert old["Model"].exists()
    assert not old["Output"].exists()


def test_the_only_copy_of_a_model_is_not_replaced(store: Store) -> None:
    job(store, {"Kept": "/home/jobs/job/kept"})
    with pytest.raises(NotPackedError) as caught:
        check_job_name(store, "job", replace=True)
    assert "smlocal pack job" in caught.value.remedy[0]
