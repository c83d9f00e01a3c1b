from pathlib import Path
from typing import Any

import pytest

from smlocal.cli.views.summary import summary
from smlocal.platforms.sagemaker.outcome.view import view_of


@pytest.fixture
def failed(tmp_path: Path) -> dict[str, Any]:
    log = tmp_path / "algo-1.log"
    log.write_text("one\ntwo\n")
    return {
        "TrainingJobName": "bad",
        "TrainingJobStatus": "Failed",
        "SecondaryStatus": "Failed",
        "FailureReason": "AlgorithmError: one\ntwo, exit code: 17",
        "CreationTime": 1.0,
        "LastModifiedTime": 2.0,
        "Local": {
            "Explanation": None,
            "FailedHost": "algo-1",
            "Hints": [],
            "Hosts": [{"Name": "algo-1", "ExitCode": 17, "Signalled": False, "Log": str(log)}],
            "Artifacts": {"Model": None, "Output": None, "Notes": []},
            "Leftovers": [],
            "Notes": [{"Id": "role", "Text": "no role", "Warning": False}],
        },
    }


def test_what_to_do_comes_before_what_differs(failed: dict[str, Any]) -> None:
    lines = summary(view_of(failed)).splitlines()
    assert lines[:2] == ["Failed: AlgorithmError: one", "  two, exit code: 17"]
    more, differs = (next(i for i, line in enumerate(lines) if word in line) for word in ("smlocal logs", "no role"))
    assert more < differs


@pytest.mark.parametrize(("lines_shown", "repeated"), [(None, True), (2, False), (500, True)])
def test_last_words_are_not_repeated_right_below_themselves(
    lines_shown: int | None, repeated: bool, failed: dict[str, Any]
) -> None:
    assert ("Last lines of algo-1" in summary(view_of(failed), lines_shown=lines_shown)) == repeated


def test_the_last_twenty_lines_of_only_the_host_that_failed_are_shown(failed: dict[str, Any], tmp_path: Path) -> None:
    other = tmp_path / "algo-2.log"
    other.write_text("".join(f"line {number}\n" for number in range(30)))
    failed["Local"]["FailedHost"] = "algo-2"
    failed["Local"]["Hosts"].append({"Name": "algo-2", "ExitCode": 3, "Signalled": False, "Log": str(other)})
    text = summary(view_of(failed))
    head, _, rest = text.partition("Last lines of algo-2\n")
    assert "Last lines" not in head
    assert rest.splitlines()[:20] == [f"  line {number}" for number in range(10, 30)]
    failed["Local"]["FailedHost"] = None
    assert "Last lines" not in summary(view_of(failed))


def test_of_many_notes_on_artifacts_the_rest_is_a_word(failed: dict[str, Any]) -> None:
    failed["Local"]["Artifacts"]["Notes"] = [f"w{number}: both wrote it" for number in range(9)]
    text = summary(view_of(failed))
    assert text.count("both wrote it") == 5
    assert "and 4 more: smlocal describe bad shows them all" in text


def test_differences_are_a_few_lines_and_their_number(failed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    notes = [{"Id": f"n{number}", "Text": f"{number} " + "word " * 40, "Warning": False} for number in range(7)]
    failed["Local"]["Notes"] = [*notes, {"Id": "relaxed-role", "Text": "only in plan", "Warning": False}]
    monkeypatch.setattr("smlocal.cli.views.summary.width_of", lambda _: 80)
    lines = summary(view_of(failed)).splitlines()
    block = lines[next(i for i, line in enumerate(lines) if "differs" in line) :]
    assert [line[:14] for line in block] == ["  differs   0 ", " " * 12 + "1 ", " " * 12 + "2 ", " " * 12 + "an"]
    assert all(len(line) <= 80 for line in block)
    assert all(line.endswith("…") for line in block[:3])
    assert block[3].strip() == "and 4 more: smlocal describe bad"


def test_a_reason_without_text_is_explained(failed: dict[str, Any]) -> None:
    assert "/opt/ml/output/failure" not in summary(view_of(failed))
    failed["FailureReason"] = "AlgorithmError: , exit code: 1"
    assert "  note      The reason has no text, because nothing was written to /opt/ml/output/failure." in summary(
        view_of(failed)
    )


def test_a_completed_job_without_a_model_says_so(failed: dict[str, Any]) -> None:
    line = "! model     none: nothing was left in /opt/ml/model"
    assert line not in summary(view_of(failed))
    failed["TrainingJobStatus"] = failed["SecondaryStatus"] = "Completed"
    assert line in summary(view_of(failed)).splitlines()
    failed["Local"]["Artifacts"]["Kept"] = "/somewhere"
    assert line not in summary(view_of(failed))
    failed["Local"]["Artifacts"] |= {"Kept": None, "Model": "/model.tar.gz", "ModelBytes": 1}
    assert line not in summary(view_of(failed))


@pytest.mark.parametrize("hosts", [1, 2])
def test_a_failure_file_of_a_completed_job_is_shown(hosts: int, failed: dict[str, Any]) -> None:
    failed["Local"] |= {
        "Hosts": [{"Name": f"algo-{number}", "Log": None} for number in range(1, hosts + 1)],
        "FailureFiles": {"algo-1": "\nno \x1b data\nTraceback"},
    }
    line = (
        f'! failure   the program {"of algo-1 " if hosts > 1 else ""}wrote "no \\x1b data" to /opt/ml/output/failure'
        " and exited with 0: the service ignores the file"
    )
    assert line not in summary(view_of(failed))
    failed["TrainingJobStatus"] = failed["SecondaryStatus"] = "Completed"
    assert line in summary(view_of(failed)).splitlines()


def test_what_starts_a_job_by_hand_is_one_line(failed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    failed["Local"]["DockerCommand"] = "docker run --rm " + "word " * 40 + "image"
    monkeypatch.setattr("smlocal.cli.views.summary.width_of", lambda _: 80)
    assert f"  by hand   {failed['Local']['DockerCommand']}" in summary(view_of(failed)).splitlines()
