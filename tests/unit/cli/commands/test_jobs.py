import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from fcntl import ioctl
from os import close, environ, fdopen
from pathlib import Path

import pytest
from tests.kit import Run

from smlocal.api.job_files import KINDS
from smlocal.cli.request_names import KIND_WORDS
from smlocal.jobs.finish.describe import mark_containers_kept
from smlocal.terms.statuses import JobPhase

LONG = "AlgorithmError: Exception during training: invalid literal for int() with base 10: 'five', exit code: 255"


def on_terminal(home: Path, columns: int, *arguments: str) -> list[str]:
    """The lines that a terminal of this width is given."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in environ.items() if name not in {"COLUMNS", "LINES"}}
    with subprocess.Popen(
        [sys.executable, "-m", "smlocal", *arguments],
        env={**kept, "SMLOCAL_HOME": str(home), "TERM": "xterm", "SMLOCAL_PAGER": ""},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ):
        close(theirs)
        shown = b""
        with fdopen(ours, "rb", buffering=0) as terminal:
            try:
                while piece := terminal.read(4096):
                    shown += piece
            except OSError:  # what Linux says when the last process has closed it
                pass
    return re.sub(r"\x1b\[\d+m", "", shown.decode()).splitlines()


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("columns", [60, 80, 100])
def test_the_table_fits_the_terminal(columns: int, remember: Callable[..., None], tmp_path: Path) -> None:
    remember("a-job-with-a-long-name-0123456789", reason=LONG)
    remember("short")
    head, first, second = on_terminal(tmp_path, columns, "jobs")
    assert max(map(len, (head, first, second))) <= columns
    assert second.split()[-1] == "ago"
    assert "…" in second
    assert first.startswith("short ")
    if columns >= 80:
        # The reason gives way before the name does.
        assert "a-job-with-a-long-name-0123456789 " in second


def test_a_wide_terminal_shows_the_whole_reason(remember: Callable[..., None], tmp_path: Path) -> None:
    remember("bad", reason=LONG)
    assert LONG in on_terminal(tmp_path, 200, "jobs")[1]


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("columns", [100, 190])
def test_long_notes_wrap_at_words_below_themselves(columns: int, tmp_path: Path) -> None:
    lines = on_terminal(tmp_path, columns, "coverage")
    assert all(len(line) <= columns or " " not in line.strip().replace("  ", "", 1) for line in lines)
    continued = [line for line in lines if line.startswith("      ")]
    assert continued
    assert len({len(line) - len(line.lstrip()) for line in continued}) == 1


def test_a_long_error_wraps_with_its_indent(tmp_path: Path) -> None:
    name = "no-such-job-" * 4 + "x"
    lines = on_terminal(tmp_path, 60, "describe", name)
    assert lines[0].startswith("error: ")
    assert lines[0].endswith("[job-unknown]")
    assert all(line.startswith("  ") for line in lines[1:])
    assert name in " ".join(line.strip() for line in lines)


def test_a_job_that_has_kept_its_containers(remember: Callable[..., None], smlocal: Run, tmp_path: Path) -> None:
    remember("wreck", reason="AlgorithmError", local={"Hosts": []})
    mark_containers_kept(str(tmp_path / "jobs" / "wreck"))
    assert "Failed, kept" in smlocal("jobs").stdout
    assert '"ContainersKept": true' in smlocal("jobs", "--json").stdout


def trained(value: float) -> dict[str, object]:
    """The results of a job of a search for the least `loss`, which has another metric first."""
    return {"FinalMetrics": [{"MetricName": "auc", "Value": 0.5}, {"MetricName": "loss", "Value": value}]}


@pytest.fixture
def one_of_each(remember: Callable[..., None], tmp_path: Path) -> Callable[[str], str]:
    """Jobs of every kind. Returns what the list says of one behind its name."""
    log = tmp_path / "end.log"
    log.write_text("reading\nno such column: age\n\n")
    reason = "AlgorithmError: no column\n, exit code: 2"
    remember("metric", local={"FinalMetrics": [{"MetricName": "loss", "Value": 0.127}]})
    remember(
        "empty",
        reason="AlgorithmError: , exit code: 3",
        local={"Hosts": [{"Name": "algo-1", "Log": str(log)}], "FailedHost": "algo-1"},
    )
    engine = "ClientError: Artifact upload failed:API error (400): no shim"
    remember("unstarted", reason=engine, local={"Hosts": [], "Hints": ["train is not executable."]})
    remember("unexplained", reason=engine, local={"Hosts": [], "FailedHost": "algo-1"})
    explained = {"Explanation": "data/b.csv: 400", "Transform": {"Requests": 7}}
    transform = {"platform": "sagemaker_transform", "local": explained}
    remember("records", **transform)
    remember("refused", reason="ClientError: See job logs for more information", **transform)
    jobs = [{"TrainingJobName": f"bad-{each}", "TrainingJobStatus": "Failed", "FailureReason": reason} for each in "12"]
    search = {"platform": "sagemaker_tuning", "documents": {"tuning": {}}}
    remember("bad", reason="All training jobs failed. Please take a look", local={"TrainingJobs": jobs}, **search)
    best = {"Best": {"FinalHyperParameterTuningJobObjectiveMetric": {"MetricName": "loss", "Value": 0.25}}}
    remember("search", platform="sagemaker_tuning", documents={"tuning": best}, ended=False)
    objective = {"HyperParameters": {"_tuning_objective_metric": "loss"}}
    for number in (1, 2):
        documents = {"request": objective, "tuned-by": {"Name": "search", "Run": "0" * 8}}
        remember(f"search-{number}", documents=documents, local=trained(number / 4))
    remember("waits", phase=JobPhase.PENDING, platform="sagemaker_processing")
    remember("serves", platform="sagemaker_hosting", ended=False)

    def said(name: str) -> str:
        shown = "\n".join(on_terminal(tmp_path, 200, "jobs"))
        found = re.search(rf"(?m)^ *{name}  +(.*?)  +(?:\d+ s  +)?(?:now|\d+ \w+ ago)$", shown)
        assert found is not None, shown
        return re.sub("  +", " | ", found[1])

    return said


def test_a_list_says_the_kind_what_came_of_a_job_and_the_cause(one_of_each: Callable[[str], str]) -> None:
    for name, line in {
        "metric": "training | Completed | loss 0.127",
        "empty": "training | Failed | exit code: 3, last line: no such column: age",
        "unstarted": "training | Failed | train is not executable.",
        "unexplained": "training | Failed | ClientError: Artifact upload failed:API error (400): no shim",
        "records": "transform | Completed | 7 requests",
        "refused": "transform | Failed | data/b.csv: 400",
        "bad": "tuning | Failed | all 2 failed with the same reason: AlgorithmError: no column, exit code: 2",
        "search": "tuning | InProgress | tuning, loss 0.25, supervisor gone",
        "search-2": "training | Completed | loss 0.5",
        "waits": "processing | InProgress | Pending",
        "serves": "endpoint | InService | supervisor gone",
    }.items():
        assert one_of_each(name) == line


def test_the_jobs_of_an_execution_stand_below_it_with_those_that_they_have_made(
    remember: Callable[..., None], smlocal: Run
) -> None:
    remember("earlier", platform="sagemaker_pipeline", documents={"pipeline": {"Names": ["Search"]}})
    by = {"Name": "earlier", "Run": "0" * 8, "Arn": "a", "Step": "Search", "Attempt": 1}
    remember("search", platform="sagemaker_tuning", documents={"tuning": {}, "step-of": by})
    for number in (1, 2):
        remember(f"trial-{number}", documents={"tuned-by": {"Name": "search", "Run": "0" * 8}})
    remember("prepare", platform="sagemaker_processing", documents={"step-of": by})
    remember("removed", documents={"step-of": {**by, "Run": "1" * 8}})
    lines = [line[: line.index("  ", 8)].rstrip() for line in smlocal("jobs").stdout.splitlines()[1:]]
    assert lines == ["removed", "earlier", "  prepare", "  search", "    trial-2", "    trial-1"]
    remember("trial-3", documents={"tuned-by": {"Name": "search", "Run": "0" * 8}})
    lines = [line[: line.index("  ", 8)].rstrip() for line in smlocal("jobs", "--limit", "1").stdout.splitlines()[1:]]
    assert lines == ["earlier", "  search", "    trial-3"]  # what has made it is shown too


@pytest.mark.usefixtures("one_of_each")
def test_the_jobs_of_a_search_stand_below_it(smlocal: Run) -> None:
    lines = smlocal("jobs").stdout.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("search "))
    assert [line.split()[0] for line in lines[at + 1 : at + 3]] == ["search-2", "search-1"]
    assert [line[:4] for line in lines if line.startswith(" ")] == ["  se", "  se"]
    alone = smlocal("jobs", "--kind", "training").stdout.splitlines()
    assert [line.split()[0] for line in alone[1:]] == [
        "search-2",
        "search-1",
        "unexplained",
        "unstarted",
        "empty",
        "metric",
    ]
    assert not any(line.startswith(" ") for line in alone)


@pytest.mark.usefixtures("one_of_each")
@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--kind", "tuning", "--kind", "Endpoint"), ["serves", "search", "bad"]),
        (("--status", "running"), ["serves", "search"]),
        (("--status", "waiting"), ["waits"]),
        (("--status", "Failed", "--kind", "transform"), ["refused"]),
        (("--status", "running", "--older-than", "1s"), []),
    ],
)
def test_jobs_are_chosen(options: tuple[str, ...], names: list[str], smlocal: Run) -> None:
    done = smlocal("jobs", *options)
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == names, done.stderr


def test_every_kind_has_a_word() -> None:
    assert {kind.word for kind in KINDS} == {*KIND_WORDS, "replicas"}


@pytest.mark.usefixtures("one_of_each")
def test_a_status_has_a_colour_and_takes_no_more_room_for_it(smlocal: Run) -> None:
    shown = {key: smlocal("jobs", **{key: "1"}).stdout for key in ("FORCE_COLOR", "NO_COLOR")}
    # Seconds pass between the two.
    plain = [re.sub(r"\d", "0", re.sub(r"\x1b\[\d*m", "", each)) for each in shown.values()]
    assert plain[0] == plain[1]
    assert set(re.findall(r"\x1b\[(\d+)m(\w+)", shown["FORCE_COLOR"])) == {
        ("32", "Completed"),
        ("32", "InService"),
        ("31", "Failed"),
    }


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_an_address_is_never_cut(columns: int, remember: Callable[..., None], tmp_path: Path) -> None:
    state = {"Port": 4321, "InService": 1, "RestartCount": 2, "Restarts": [], "PingTroubles": {"a": "late " * 30}}
    documents = {"hosting": {**state, "Logged": {}}}
    remember("an-endpoint-of-mine", platform="sagemaker_hosting", ended=False, documents=documents)
    remember("failed", platform="sagemaker_hosting", documents=documents, reason=LONG)
    lines = on_terminal(tmp_path, columns, "endpoints")
    address = "http://127.0.0.1:4321/endpoints/an-endpoint-of-mine/invocations"
    assert sum(address in line.split() for line in lines) == 1
    assert all(len(line) <= max(columns, len(address) + 2) for line in lines)
    assert [line.split()[0] for line in lines if line[0] != " "] == ["NAME", "failed", "an-endpoint-of-mine"]
