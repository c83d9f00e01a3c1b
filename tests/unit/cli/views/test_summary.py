from pathlib import Path
from typing import Any

import pytest

from smlocal.cli.views.summary import summary
from smlocal.sagemaker.training.showing import view_of


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


TRACEBACK = """Exception during training: no rows
Traceback (most recent call last):
  File "/opt/program/train", line 51, in main
    train()
ValueError: no rows"""


@pytest.fixture
def raised(failed: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Its program has written a traceback to its log and to the failure file."""
    (tmp_path / "algo-1.log").write_text(f"one\n{TRACEBACK}\n")
    failed["FailureReason"] = f"AlgorithmError: {TRACEBACK}\n, exit code: 255"
    failed["Local"]["Hints"] = ["There were no rows."]
    return failed


def test_what_to_do_next_is_the_last_row(failed: dict[str, Any]) -> None:
    failed["Local"]["DockerCommand"] = "docker run image"
    lines = summary(view_of(failed)).splitlines()
    assert lines[:2] == ["Failed: AlgorithmError: one", "  two, exit code: 17"]
    assert lines[-1] == "  next      smlocal logs bad · smlocal describe bad · smlocal shell bad"


@pytest.mark.parametrize(
    ("status", "commands"),
    [
        ("Completed", "smlocal describe bad · smlocal report bad"),
        ("Stopped", "smlocal logs bad · smlocal describe bad"),
    ],
)
def test_a_job_that_did_not_fail_has_a_next_row_too(status: str, commands: str, failed: dict[str, Any]) -> None:
    failed["TrainingJobStatus"] = failed["SecondaryStatus"] = status
    lines = summary(view_of(failed)).splitlines()
    assert lines[-1] == f"  next      {commands}"


@pytest.mark.parametrize("serve", ["", "/usr/local/bin/serve"])
@pytest.mark.parametrize("model", [None, "out/model.tar.gz"])
def test_a_model_whose_image_serves_leads_to_an_endpoint(serve: str, model: str | None, failed: dict[str, Any]) -> None:
    failed |= {"TrainingJobStatus": "Completed", "SecondaryStatus": "Completed"}
    failed["Local"]["Artifacts"] |= {"Model": model, "ModelBytes": 9}
    failed["Local"] |= {"ServeProgram": serve} if serve else {}
    proposed = "smlocal deploy bad · " if serve and model else ""
    assert (
        summary(view_of(failed)).splitlines()[-1] == f"  next      {proposed}smlocal describe bad · smlocal report bad"
    )


def test_a_traceback_right_above_is_not_shown_again(raised: dict[str, Any]) -> None:
    lines = summary(view_of(raised), lines_shown=5).splitlines()
    assert lines[:4] == [
        "Failed: AlgorithmError: Exception during training: no rows",
        "  …",
        "  ValueError: no rows, exit code: 255",
        "  hint      There were no rows.",
    ]
    assert not [line for line in lines if "Traceback" in line or "Last lines" in line]


def test_a_traceback_elsewhere_is_shown_once_then_the_hint_and_what_was_written_before(raised: dict[str, Any]) -> None:
    lines = summary(view_of(raised)).splitlines()
    assert lines[:10] == [
        "Failed: AlgorithmError: Exception during training: no rows",
        "  Traceback (most recent call last):",
        '    File "/opt/program/train", line 51, in main',
        "      train()",
        "  ValueError: no rows",
        "  , exit code: 255",
        "  hint      There were no rows.",
        "Last lines of algo-1",
        "  one",
        "  …",
    ]
    assert "\n".join(lines).count("Traceback") == 1


def test_a_reason_that_the_log_does_not_have_is_shown_whole(raised: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "algo-1.log").write_text("one\nTraceback (most recent call last):\n")
    lines = summary(view_of(raised), lines_shown=2).splitlines()
    assert lines[4:6] == ["  ValueError: no rows", "  , exit code: 255"]
    assert "  Traceback (most recent call last):" in summary(view_of(raised)).partition("Last lines")[2].splitlines()


@pytest.mark.parametrize("lines_shown", [5, None])
def test_a_reason_that_the_service_has_cut_is_in_the_log_all_the_same(
    lines_shown: int | None, raised: dict[str, Any]
) -> None:
    raised["FailureReason"] = f"AlgorithmError: {TRACEBACK[:-5]}, exit code: 255"
    text = summary(view_of(raised), lines_shown=lines_shown)
    assert text.count("Traceback") == (lines_shown is None)
    assert ("  ValueError: no rows" in text.splitlines()) == (lines_shown is None), "the line that was cut"


def test_how_a_job_ended_looks_like_no_phase(failed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = []
    for status in ("Completed", "Stopped", "Failed"):
        failed["TrainingJobStatus"] = failed["SecondaryStatus"] = status
        shown.append(summary(view_of(failed)).splitlines()[0].partition("m")[0])
    assert shown == ["\x1b[1;32", "\x1b[1;33", "\x1b[1;31"]


@pytest.mark.parametrize(
    ("hosts", "lines_shown", "repeated"),
    [(1, None, True), (1, 2, False), (1, 500, False), (2, None, True), (2, 2, False), (2, 500, True)],
)
def test_last_words_are_not_repeated_right_below_themselves(
    hosts: int, lines_shown: int | None, repeated: bool, failed: dict[str, Any]
) -> None:
    failed["Local"]["Hosts"] += [{"Name": "algo-2", "ExitCode": 0, "Signalled": False, "Log": None}] * (hosts - 1)
    failed["FailureReason"] = "AlgorithmError: , exit code: 17"
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


def test_differences_are_a_number_that_describe_has_too(failed: dict[str, Any]) -> None:
    row = "  differs   {}: smlocal describe bad"
    assert row.format("1 known difference") in summary(view_of(failed)).splitlines()
    failed["Local"]["Notes"] += [{"Id": f"n{each}", "Text": "other", "Warning": each == 1} for each in range(6)]
    assert row.format("7 known differences") in summary(view_of(failed)).splitlines()
    failed["Local"]["Notes"] = []
    assert "differs" not in summary(view_of(failed))


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
    line = f"  by hand   {failed['Local']['DockerCommand']}"
    assert line in summary(view_of(failed), by_hand=True).splitlines()
    assert line not in summary(view_of(failed)).splitlines()
