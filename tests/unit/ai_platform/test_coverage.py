import pytest
from pages.coverage import ai_platform_coverage
from tests.kit.replica_members import leaves

from smlocal.ai_platform import coverage
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.terms.support import Support


def _covers(row: str, member: str) -> bool:
    return member == row or member.startswith((f"{row}.", f"{row}[]"))


@pytest.mark.parametrize("kind", ReplicaJobKind)
def test_every_member_is_emulated_recorded_or_refused(kind: ReplicaJobKind) -> None:
    rows, wanted = coverage.table(kind), list(leaves(kind))
    assert {leaf: sum(_covers(row, leaf) for row in rows) for leaf in wanted} == dict.fromkeys(wanted, 1)
    assert [row for row in rows if not any(_covers(row, leaf) for leaf in wanted)] == []
    assert all(row.note.endswith((".", "…")) for row in rows.values())
    assert {row.support for row in rows.values()} == set(Support)


def test_members_of_a_request_are_found() -> None:
    request = {
        "labels": {"a": "b"},
        "jobSpec": {
            "workerPoolSpecs": [
                {"nfsMounts": [{"server": "10.0.0.1"}], "containerSpec": {"args": ["a", "b"]}},
                {"machineSpec": {"acceleratorType": "TPU_V2"}, "diskSpec": {"bootDiskSizeGb": 100}},
            ]
        },
    }
    pools = ("jobSpec", "workerPoolSpecs")
    assert [(name, path) for name, path, _ in coverage.rows_of(ReplicaJobKind.CUSTOM_JOB, request)] == [
        ("labels", ("labels",)),
        ("jobSpec.workerPoolSpecs[].nfsMounts", (*pools, 0, "nfsMounts")),
        ("jobSpec.workerPoolSpecs[].containerSpec.args[]", (*pools, 0, "containerSpec", "args")),
        ("jobSpec.workerPoolSpecs[].machineSpec.acceleratorType", (*pools, 1, "machineSpec", "acceleratorType")),
        ("jobSpec.workerPoolSpecs[].diskSpec", (*pools, 1, "diskSpec")),
    ]
    assert [(path[3:], text) for _, path, text in coverage.refused_members(ReplicaJobKind.CUSTOM_JOB, request)] == [
        (("nfsMounts",), "is refused: Network file systems are not mounted here."),
        (("machineSpec", "acceleratorType"), "is TPU_V2, which is refused: There are no TPUs here."),
    ]
    recorded = coverage.recorded_members(ReplicaJobKind.CUSTOM_JOB, request)
    assert recorded == ("labels", "jobSpec.workerPoolSpecs[].diskSpec")


def test_the_tables_as_json_and_as_a_page() -> None:
    tables = coverage.coverage_json()
    assert set(tables) == {"Job", "CustomJob"}
    assert tables["Job"]["trainingInput.scaleTier"]["values"] == {
        "BASIC_TPU": {"support": "refused", "note": "There are no TPUs here."}
    }
    page = ai_platform_coverage()
    assert "| `jobSpec.network` | recorded | Replicas are on a network of this engine. |" in page
    assert "= `TPU_*` | refused | There are no TPUs here. |" in page
