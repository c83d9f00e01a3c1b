import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError
from tests.kit.tensor_files import save

from smlocal.jobs.store.jobs import Store
from smlocal.report.job_report import read_job_report
from smlocal.report.page import render, render_report
from smlocal.terms.usage import Point

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'&amp;"
VOID = {"meta", "link", "br", "input"}
KNOWN = {
    *("html", "head", "title", "style", "body", "main", "header", "section", "footer", "h1", "h2", "h3", "p", "pre"),
    *("ul", "li", "dl", "div", "dt", "dd", "table", "tbody", "tr", "td", "figure", "figcaption", "span", "b", "code"),
    *("thead", "th", "label", "svg", "path", "rect", "polyline", "text", "a", "details", "summary", *VOID),
}
REQUEST = {
    "AlgorithmSpecification": {
        "TrainingImage": "tree:latest",
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}, {"Name": "never", "Regex": "never=(.*)"}],
    },
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
}


class Reader(HTMLParser):
    """Reads a page as a tree would be made of it; everything that is not in order is an assertion."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.headings: list[str] = []
        self.text = ""
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        if self.open and self.open[-1] != "style":
            self.text += data


def read(text: str) -> Reader:
    """The page, after a look at what must be true of each."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    assert reader.seen <= KNOWN
    for name, value in reader.attributes:
        assert not name.startswith("on")
        assert name not in {"src", "srcset", "action", "style"}
        assert name != "href" or value == "data:," or re.fullmatch("#[a-z]+-[0-9]+", value or "")
    style = re.findall(r"<style>(.*?)</style>", text, flags=re.DOTALL)
    assert len(style) == 1
    assert "url(" not in style[0]
    assert "@import" not in style[0]
    return reader


@pytest.fixture
def shown(store: Store, began: float) -> Callable[..., Reader]:
    def show(name: str = "my-tree", after: float = 100.0) -> Reader:
        return read(render_report(read_job_report(store, name, began + after)))

    return show


def test_a_job_of_which_little_is_known_has_a_page_without_the_rest(
    store_job: Callable[..., Any], shown: Callable[..., Reader]
) -> None:
    store_job().end(2.6)
    reader = shown()
    assert reader.headings == ["Timeline", "Request"]
    assert "Completed in 2.6 s" in reader.text


def test_everything_that_is_known_is_there_in_its_order(
    store_job: Callable[..., Any],
    shown: Callable[..., Reader],
    archive: Callable[..., str],
    point: Callable[..., Point],
) -> None:
    path = archive({"weights/a.bin": b"0" * 3000})
    job = store_job(
        request=REQUEST,
        notes=({"Id": "a", "Text": "RoleArn is recorded", "Warning": False},),
        local={
            "Hosts": [{"Name": "algo-1", "ExitCode": 0}],
            "Artifacts": {"Model": path, "ModelBytes": 2048, "Output": None, "Notes": ["a socket was left out"]},
        },
    )
    job.log("algo-1", b"epoch 1\tloss=0.5\n")
    job.values([(0, 0, 3.0, 0.5), (0, 0, 5.0, 0.25)])
    job.used("algo-1", [point(1.5), point(2.5, memory=3 << 28)])
    job.end(9.0)
    reader = shown()
    assert reader.headings == [
        *("Timeline", "Metrics", "Usage", "Artifacts", "Log", "Differences from the service", "Request")
    ]
    for words in (
        *("algo-1 exit 0", "loss", "0.25", "2 values, 0.25 to 0.5", "No values found for never."),
        *("peak 768 MiB", "of 8 GiB in ml.m5.large", "weights/a.bin", "2.9 KiB", "a socket was left out"),
        *("epoch 1#011loss=0.5", "RoleArn is recorded", '"TrainingImage": "tree:latest"'),
    ):
        assert words in reader.text, words
    assert "polyline" in reader.seen


def test_a_failure_begins_with_its_whole_reason(store_job: Callable[..., Any], shown: Callable[..., Reader]) -> None:
    reason = "AlgorithmError: line 1\n  line <2>\n" + "x" * 900 + ", exit code: 255"
    store_job(local={"Hints": ["Is it executable?"], "Explanation": "the disk was full"}).end(1.3, reason)
    text = shown().text
    assert reason in text
    at = [text.index(words) for words in ("Failed after 1.3 s", reason, "the disk was full", "Is it exec", "Timeline")]
    assert at == sorted(at)


def test_a_job_that_still_runs_says_so_first(
    store_job: Callable[..., Any], shown: Callable[..., Reader], point: Callable[..., Point]
) -> None:
    job = store_job(request=REQUEST, notes=({"Id": "a", "Text": "RoleArn is recorded", "Warning": False},))
    job.log("algo-1", b"half a line")
    job.values([(0, 0, 3.0, 0.5)])
    job.used("algo-1", [point(1.5), point(2.5)])
    reader = shown(after=41.5)
    assert "InProgress, 41.5 s so far" in reader.text
    assert reader.text.index("still running when this page was made") < reader.text.index("Timeline")
    assert reader.headings == ["Timeline", "Metrics", "Usage", "Log", "Differences from the service", "Request"]
    assert "41.0 s so far" in reader.text  # of training
    assert "half a line" in reader.text


def test_nothing_that_a_job_holds_becomes_markup(
    store_job: Callable[..., Any],
    archive: Callable[..., str],
    point: Callable[..., Point],
    store: Store,
) -> None:
    hosts = ("algo-1", "algo-2")
    definitions = [{"Name": HOSTILE, "Regex": HOSTILE}, {"Name": f"none {HOSTILE}", "Regex": "x"}]
    job = store_job(
        hosts=hosts,
        request={
            "AlgorithmSpecification": {"TrainingImage": HOSTILE, "MetricDefinitions": definitions},
            "Environment": {HOSTILE: HOSTILE},
            "ResourceConfig": {"InstanceType": HOSTILE, "InstanceCount": HOSTILE},
        },
        notes=({"Id": "a", "Text": HOSTILE, "Warning": True},),
        local={
            "Hosts": [{"Name": HOSTILE, "ExitCode": HOSTILE}, {"Name": HOSTILE, "ExitCode": 1}],
            "Hints": [HOSTILE],
            "Explanation": HOSTILE,
            "Leftovers": [HOSTILE],
            "Artifacts": {
                "Model": archive({HOSTILE: b"a", "\x1b[31m\udcff": b"b"}),
                "ModelBytes": 1,
                "Output": f"/gone/{HOSTILE}",
                "OutputBytes": 1,
                "Notes": [HOSTILE],
            },
        },
    )
    for host in hosts:
        job.log(host, HOSTILE.encode() + b"\n\x00\x1b[31m\xff")
        job.used(host, [point(1.5), point(2.5)])
    job.values((0, host, 3.0 + index, float(index)) for index in range(9) for host in (0, 1))
    job.end(9.0, f"{HOSTILE}\x00\x85")
    text = render_report(read_job_report(store, "my-tree", 1e9))
    reader = read(text)
    assert "script" not in reader.seen
    assert reader.text.count(HOSTILE) >= 15
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    text.encode()  # no half characters of file names


def test_rules_and_tensors(
    store_job: Callable[..., Any], shown: Callable[..., Reader], store: Store, began: float, tmp_path: Path
) -> None:
    rule = {
        "RuleConfigurationName": f"Loss {HOSTILE}",
        "RuleEvaluationStatus": "IssuesFound",
        "StatusDetails": f"met {HOSTILE}",
        "LastModifiedTime": began + 2.5,
        "Step": 40,
    }
    save(tmp_path / "debug", 3, {f"scalar/{HOSTILE}": [0.5]})
    job = store_job(request={**REQUEST, "DebugRuleConfigurations": [{"RuleConfigurationName": f"Loss {HOSTILE}"}]})
    collector = {"Member": "DebugHookConfig", "Directory": str(tmp_path / "debug"), "Published": None}
    store.put_document(job.name, "plan", {"Hosts": [], "Collectors": [collector]})
    store.put_document(job.name, "rules", [rule])
    store.add_event(job.name, began + 2.5, "rule", rule)
    job.end(10.0)
    reader = shown()
    assert reader.headings == ["Timeline", "Debugger rules", "Metrics", "Tensors", "Request"]
    for words in ("IssuesFound at step 40", f"met {HOSTILE}", f"scalar/{HOSTILE}", "1 value, 0.5 to 0.5", "2.5 s"):
        assert words in reader.text
    assert ("width", "250.0") in reader.attributes
    assert "script" not in reader.seen


def test_what_looks_like_a_secret_is_not_shown_around(
    store_job: Callable[..., Any], shown: Callable[..., Reader]
) -> None:
    store_job(
        request={
            "Environment": {"HF_TOKEN": "s3cret-1", "LEVEL": "info"},
            "HyperParameters": {"wandb_api_key": "s3cret-2", "epochs": "3"},
            "Tags": [{"Key": "db-password", "Value": "s3cret-3"}, {"Key": "team", "Value": "blue"}],
            "OutputDataConfig": {"KmsKeyId": "alias/mine", "S3OutputPath": "/out"},
        }
    ).end(2.6)
    text = shown().text
    assert "s3cret" not in text
    request = json.loads(text[text.index("{") : text.rindex("}") + 1])
    assert request["Environment"] == {"HF_TOKEN": "(withheld)", "LEVEL": "info"}
    assert request["HyperParameters"] == {"wandb_api_key": "(withheld)", "epochs": "3"}
    assert [tag["Value"] for tag in request["Tags"]] == ["(withheld)", "blue"]
    assert request["OutputDataConfig"]["KmsKeyId"] == "alias/mine"


@pytest.mark.slow(0.5)
def test_a_series_of_any_length_makes_a_page_of_bounded_size(
    store_job: Callable[..., Any], store: Store, began: float, point: Callable[..., Point]
) -> None:
    job = store_job(request=REQUEST)
    job.values((0, 0, 1 + index / 1000, float(index % 977)) for index in range(50_000))
    job.log("algo-1", b"x" * 50 + b"\n" + b"y" * 3_000_000 + b"\n")
    job.used("algo-1", [point(1.5 + index) for index in range(3000)])
    job.end(60.0)
    text = render_report(read_job_report(store, "my-tree", began))
    assert len(text) < 200_000
    assert "50,000 values, 0 to 976" in text


def test_the_page_is_for_phones_and_paper_and_either_light(store_job: Callable[..., Any], store: Store) -> None:
    store_job().end(2.6)
    text = render_report(read_job_report(store, "my-tree", 1e9))
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    for rule in ("@media print", "prefers-color-scheme: dark"):
        assert rule in text
    assert "default-src 'none'" in text  # the browser would refuse what were not in the file


def test_a_template_that_uses_what_is_missing_is_an_error(store_job: Callable[..., Any], store: Store) -> None:
    store_job().end(2.6)
    report = read_job_report(store, "my-tree", 1e9)
    with pytest.raises(UndefinedError, match="headline"):
        render("report.html", report=report, view=report.view)


def test_of_many_notes_on_artifacts_some_are_shown(store_job: Callable[..., Any], shown: Callable[..., Reader]) -> None:
    store_job(local={"Artifacts": {"Model": None, "Output": None, "Notes": ["both wrote it"] * 500}}).end(2.6)
    text = shown().text
    assert text.count("both wrote it") == 20
    assert "And 480 more" in text


def test_a_phase_is_as_long_as_the_run_said(store_job: Callable[..., Any], store: Store) -> None:
    store_job(local={"Seconds": {"Uploading": 0.05}}).end(10.0)
    text = render_report(read_job_report(store, "my-tree", 1e9))
    # Training lasted from 0.5 to 9.9 of 10 seconds; the bars are of 1000.
    assert (
        '<rect class="bar" x="50.0" y="1" width="940.0" height="8"/></svg>\n<span class="seconds">9.4 s</span>' in text
    )
    assert (
        '<rect class="bar" x="990.0" y="1" width="5.0" height="8"/></svg>\n<span class="seconds">0.1 s</span>' in text
    )


def test_balanced_buffers_are_drawn(store_job: Callable[..., Any], shown: Callable[..., Reader]) -> None:
    times = [
        {"Bytes": 4096, "Ready": 0.2, "Begin": 0.3, "End": 0.7},
        {"Bytes": 2048, "Ready": 0.5, "Begin": 0.7, "End": 1},
    ]
    balanced = {
        "IterationBytes": {"Balanced": [2109452, 2109452], "WholeVariables": [2101248, 32768]},
        "LastIteration": {"Buffers": times, "BegunBeforeTheNextWasReady": 1},
    }
    store_job(local={"DataParallel": {"Library": "stand-in", "Balanced": balanced}}).end(10.0)
    page = shown()
    assert "Balanced buffers" in page.headings
    for told in ("2,109,452 B", "32,768 B", "4.0 KiB", "1 of 2 reductions began before", "400.0 ms"):
        assert told in page.text
    assert ("x", "300.0") in page.attributes
