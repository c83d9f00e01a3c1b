"""The page of an execution of a pipeline: a stored execution in, its page out."""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from tests.unit.report.conftest import BEGAN, StoredJob
from tests.unit.report.test_page import HOSTILE, Reader, read
from tests.unit.sagemaker.pipelines.simulated import Simulation, definition_of, script_of
from tests.unit.sagemaker.pipelines.steps import with_requests

from smlocal.jobs.page_parts import Graph
from smlocal.jobs.store.jobs import Store
from smlocal.pipelines.job_file import EXECUTION, OUTPUT, START
from smlocal.pipelines.page_parts import page_parts
from smlocal.report.job_report import read_job_report
from smlocal.report.page import about_job, render, render_report
from smlocal.sagemaker.pipelines.deciding import Execution
from smlocal.sagemaker.pipelines.listing import Listed, has_begun
from smlocal.sagemaker.pipelines.stored import STATE, STEP_OF, StoredStep, state_document, step_document
from smlocal.terms.statuses import JobPhase, PhaseMessage

ARN = "arn:aws:sagemaker:us-east-1:111122223333:pipeline/p/execution"


@dataclass(kw_only=True)
class Stored:
    """An execution in a store, as its leader leaves it."""

    store: Store
    steps: str
    """Of the definition, in YAML."""
    name: str = "p-now"
    start: Mapping[str, Any] = field(default_factory=dict)

    def simulated(self, script: str = "") -> "Stored":
        """Run it to its end."""
        definition = definition_of(with_requests(self.steps))
        found = script_of(script)
        return self.put(Simulation(definition, found).run().execution, items=found.items)

    def put(self, execution: Execution, *, items: Mapping[str, Any] | None = None) -> "Stored":
        """Store what an execution has come to."""
        records = {}
        for name, progress in execution.progress.items():
            if has_begun(progress):
                ended = None if progress.ended is None else BEGAN + progress.ended
                timed = replace(progress, began=BEGAN + (progress.began or 0.0), ended=ended)
                records[name] = StoredStep(listed=Listed.of(execution.steps[name], timed))
        state = state_document(records, items or {}, status=execution.status, stopping=execution.stopping)
        documents = {step_document(name): step.document() for name, step in records.items()}
        self.job = StoredJob(
            store=self.store,
            name=self.name,
            request={"PipelineName": "p", **self.start},
            platform="sagemaker_pipeline",
            arn=f"{ARN}/{self.name[2:]}",
        )
        lease = self.job.create()
        recorded = {**execution.definition.document.record(), START: {"PipelineName": "p", **self.start}}
        self.store.put_documents(
            self.name, {"job": {**recorded, EXECUTION: "abc", OUTPUT: "/out"}, STATE: state, **documents}
        )
        self.job.phase(JobPhase.TRAINING, PhaseMessage.TRAINING, 0.0)
        lease.release()
        return self

    def note(self, step: str, **documents: Any) -> "Stored":
        """More about a step, as it is stored."""
        before = self.store.document(self.name, step_document(step))
        self.store.put_document(self.name, step_document(step), {**before, **documents})
        return self

    def end(self, reason: str | None = None) -> "Stored":
        self.job.end(60.0, reason)
        return self

    @property
    def page(self) -> str:
        return render_report(read_job_report(self.store, self.name, BEGAN + 60))

    @property
    def reader(self) -> Reader:
        return read(self.page)

    @property
    def live(self) -> str:
        about = {**about_job(read_job_report(self.store, self.name, BEGAN + 60)), "address": f"/-/jobs/{self.name}"}
        return "".join(render(f"partials/{part}.html", **about) for part in ("leading", "timeline", "sections"))

    @property
    def rows(self) -> list[str]:
        """The cells and lines of each row of the table."""
        found = re.findall(r'<tr id="step-\d+">(.*?)</tr>', self.page, flags=re.DOTALL)
        cells = [re.split(r"</?(?:td|span|a)\b[^>]*>", row) for row in found]
        return [" | ".join(html.unescape(each) for each in row if each.strip()) for row in cells]

    @property
    def boxes(self) -> list[str]:
        found = re.findall(r'<a( href="#step-\d+")? class="box (.*?)">(.*?)</a>', self.page)
        return [" | ".join([kind.strip(), *re.findall(r"<text[^>]*>(.*?)</text>", inner)]) for _, kind, inner in found]

    @property
    def values(self) -> dict[str, list[str]]:
        folds = re.findall(r"<summary>(.*?) <span.*?<tbody>(.*?)</tbody>", self.page, flags=re.DOTALL)
        return {
            title: [
                " | ".join(html.unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row))
                for row in re.findall(r"<tr>(.*?)</tr>", body)
            ]
            for title, body in folds
        }


@pytest.fixture
def execution(store: Store) -> Callable[..., Stored]:
    def make(steps: str, **about: Any) -> Stored:
        return Stored(store=store, steps=steps, **about)

    return make


BRANCHES = """
Parameters: [{Name: Limit, Type: Integer, DefaultValue: 5}]
Steps:
- {Name: Prepare, Type: Processing, Arguments: WRITES}
- {Name: Train, Type: Training, Arguments: TRAINING, DependsOn: [Prepare],
   RetryPolicies: [{ExceptionType: [SageMaker.CAPACITY_ERROR], MaxAttempts: 3, IntervalSeconds: 1}]}
- Name: Good
  Type: Condition
  DependsOn: [Train]
  Arguments:
    Conditions: [{Type: GreaterThan, LeftValue: {Get: Parameters.Limit}, RightValue: 3}]
    IfSteps:
    - {Name: Register, Type: Processing, Arguments: PROCESSING}
    - {Name: Deploy, Type: Processing, Arguments: PROCESSING, DependsOn: [Register]}
    - {Name: Announce, Type: Processing, Arguments: PROCESSING, DependsOn: [Deploy]}
    - {Name: Mend, Type: Processing, Arguments: PROCESSING, DependsOn: [{Step: Deploy, Trigger: Failed}]}
    ElseSteps: [{Name: Bad, Type: Fail, Arguments: {ErrorMessage: no}}]
- Name: Each
  Type: ForEach
  DependsOn: [Train]
  Arguments:
    IterableItems: [eu, us]
    MaxConcurrency: 1
    ForEachBody: [{Name: Region, Type: Processing, Arguments: PROCESSING}]
- {Name: Last, Type: Processing, Arguments: PROCESSING, DependsOn: [Each]}
"""
SCRIPT = """
Train: 2 Failed SageMaker.CAPACITY_ERROR none is free; 2 Succeeded
Deploy: 3 Failed SageMaker.X it broke
Region-1: 1 Failed SageMaker.X no such region
items Each eu us
"""


def test_the_table_has_each_step_and_why_some_are_left_out(execution: Callable[..., Stored]) -> None:
    made = execution(BRANCHES).simulated(SCRIPT).note("Train", Job="pipelines-abc-Train").end("Step failure")
    assert made.rows == [
        "Prepare | Processing | ✓ Succeeded | 0.0 s | 1.0 s",
        "Train | Training | ✓ Succeeded | 2 attempts | 1.0 s | 5.0 s | pipelines-abc-Train",
        "Good | Condition | ✓ Succeeded | 6.0 s | 0.0 s | The conditions hold.",
        "Each | ForEach | ✗ Failed | 6.0 s | 2.0 s | 2 items: 1 succeeded, 1 failed",
        "Register | Processing | ✓ Succeeded | 6.0 s | 1.0 s",
        "Region-0 | Processing | ✓ Succeeded | 6.0 s | 1.0 s",
        "Deploy | Processing | ✗ Failed | 7.0 s | 3.0 s | it broke",
        "Region-1 | Processing | ✗ Failed | 7.0 s | 1.0 s | no such region",
        "Mend | Processing | ✓ Succeeded | 10.0 s | 1.0 s",
        "Last | Processing | - Left out | Each failed.",
        "Announce | Processing | - Left out | Deploy failed.",
        "Bad | Fail | - Left out | Good is true.",
    ]
    assert '<a href="/-/jobs/pipelines-abc-Train">pipelines-abc-Train</a>' in made.live
    assert "smlocal report NAME" in made.page
    assert "6 succeeded, 3 left out" in made.reader.text.replace("3 failed, ", "")
    assert tuple(made.reader.headings) == ("Graph", "Timeline", "Steps", "Values that flowed", "Request")
    assert made.page.count('<svg class="of-rule"') == 9  # a bar for each that has begun


def test_the_graph_shows_states_by_words_and_colours_and_what_was_not_gone_along(
    execution: Callable[..., Stored],
) -> None:
    made = execution(BRANCHES).simulated(SCRIPT).end("Step failure")
    assert made.boxes == [
        "completed | Prepare | Processing · 1.0 s | ✓ Succeeded",
        "completed | Train | Training · 5.0 s | ✓ Succeeded, 2 attempts",
        "completed | Good | Condition · 0.0 s | ✓ Succeeded, true",
        "failed | Each | ForEach · 2.0 s | ✗ Failed, 1 of 2 done",
        "completed | Register | Processing · 1.0 s | ✓ Succeeded",
        "failed | Deploy | Processing · 3.0 s | ✗ Failed",
        "completed | Mend | Processing · 1.0 s | ✓ Succeeded",
        "left-out | Last | Processing | - Left out",
        "left-out | Announce | Processing | - Left out",
        "left-out | Bad | Fail | - Left out",
    ]
    view = read_job_report(made.store, made.name, BEGAN).view
    graph = next(each for each in page_parts(made.store, view).sections[1].blocks if isinstance(each, Graph))
    names = [each.name for each in graph.boxes]
    arrows = [
        f"{names[each.start]} {each.label or '-'} {names[each.end]}{' faint' * each.faint}" for each in graph.arrows
    ]
    assert arrows == [
        "Prepare - Train",
        "Train - Good",
        "Train - Each",
        "Each - Last faint",
        "Good true Register",
        "Register - Deploy",
        "Deploy - Announce faint",
        "Deploy if it fails Mend",
        "Good false Bad faint",
    ]
    targets = set(re.findall(r'href="#(step-\d+)"', made.page))
    assert targets <= set(re.findall(r'<tr id="(step-\d+)"', made.page))
    assert len(targets) == len(names)


def test_values_are_shown_as_they_are_written_and_as_they_were(execution: Callable[..., Stored]) -> None:
    steps = """
Parameters: [{Name: Stage, Type: String, DefaultValue: test}, {Name: ApiKey, Type: String}]
Steps:
- Name: Prepare
  Type: Processing
  PropertyFiles: [{PropertyFileName: Report, OutputName: metrics, FilePath: report.json}]
  Arguments: WRITES
- Name: Ask
  Type: Lambda
  FunctionArn: arn:aws:lambda:us-east-1:111122223333:function:f
  OutputParameters: [{OutputName: n, OutputType: Integer}, {OutputName: access_token, OutputType: String}]
  Arguments:
    stage: {Get: Parameters.Stage}
    api_key: {"Std:Join": {On: "-", Values: [literal-hunter2, {Get: Parameters.ApiKey}]}}
    words: [--token, {Get: Parameters.ApiKey}, {"Std:JsonGet": {PropertyFile: {Get: Steps.Prepare.PropertyFiles.Report}, Path: a.b}}]
Local: {Steps: {Ask: {Skip: true}}}
"""  # noqa: E501 - one list
    given = [{"Name": "ApiKey", "Value": "hunter2"}, {"Name": "Stage", "Value": "live"}]
    made = execution(steps, start={"PipelineParameters": given}).simulated("given ApiKey=hunter2 Stage=live")
    made.note(
        "Ask",
        Arguments={"stage": "live", "api_key": "literal-hunter2", "words": ["--token", "hunter2", "v" * 1000]},
        Answer={"OutputParameters": {"n": 3, "access_token": "hunter2"}},
        Cache={
            "Why": "Environment.API_KEY differs from the last run",
            "Changes": [
                {"Key": "Environment.API_KEY", "Before": "hunter2-before", "After": "hunter2"},
                {"Key": "AppSpecification.ContainerEntrypoint[2]", "Before": "PASSWORD=hunter2 run", "After": None},
                *({"Key": f"InputDataConfig[{each}].ChannelName", "Before": 1, "After": [2]} for each in range(5)),
            ],
        },
    )
    output = {"OutputName": "metrics", "S3Output": {"S3Uri": "s3://b/m"}}
    made.note("Prepare", Answer={"ProcessingOutputConfig": {"Outputs": [output]}}, Folders={"s3://b/m": "/out/m"})
    made.end()
    assert made.values == {
        "Parameters": ["Stage | String, given | live", "ApiKey | String, given | (withheld)"],
        "Prepare": ["file Report | metrics: report.json | /out/m/report.json"],
        "Ask": [
            "stage | Parameters.Stage | live",
            "api_key | (withheld) | (withheld)",
            "words[1] | Parameters.ApiKey | (withheld)",
            f"words[2] | Steps.Prepare.PropertyFiles.Report: a.b | {'v' * 300}…",
            "output n |  | 3",
            "output access_token |  | (withheld)",
        ],
    }
    assert made.rows[1].partition("missed")[2] == (
        " | Environment.API_KEY differs from the last run | Environment.API_KEY: (withheld) → (withheld)"
        " | AppSpecification.ContainerEntrypoint[2]: PASSWORD=(withheld) → nothing"
        " | InputDataConfig[0].ChannelName: 1 → [2] | InputDataConfig[1].ChannelName: 1 → [2] | 3 more changes"
    )
    assert "hunter2" not in made.page


def test_a_hit_of_the_cache_leads_to_the_execution_that_it_is_from(execution: Callable[..., Stored]) -> None:
    steps = "\n".join(f"- {{Name: {each}, Type: Training, Arguments: TRAINING}}" for each in ("Train", "Next"))
    steps = f"Steps:\n{steps}"
    execution(steps, name="p-before").simulated().end()
    made = execution(steps).simulated()
    for name in ("Train", "Next"):
        source = f"{ARN}/{'before' if name == 'Train' else 'removed'}"
        progress = made.store.document(made.name, step_document(name))["Progress"]
        made.note(name, Cache={"Source": source}, Progress={**progress, "cached": source})
    made.end()
    assert made.rows == [
        "Train | Training | ✓ Succeeded | 0.0 s | 1.0 s | hit | result of before",
        "Next | Training | ✓ Succeeded | 0.0 s | 1.0 s | hit | result of removed",
    ]
    assert made.boxes[0].endswith("✓ Succeeded, cached")
    assert '<a href="/-/jobs/p-before">hit</a>' in made.live
    assert made.live.count(">hit</a>") == 1
    assert "From the cache" in made.reader.text


def test_what_is_hostile_is_only_text(execution: Callable[..., Stored]) -> None:
    steps = f"""
Parameters: [{{Name: Text, Type: String}}]
Steps:
- {{Name: Train, Type: Training, Arguments: TRAINING, DisplayName: {HOSTILE!r}, Description: {HOSTILE!r}}}
- Name: Each
  Type: ForEach
  Arguments:
    IterableItems: [{HOSTILE!r}]
    MaxConcurrency: 1
    ForEachBody: [{{Name: Region, Type: Processing, Arguments: PROCESSING}}]
""".replace("\\'", "''").replace('\\"', '"')
    values = [{"Name": "Text", "Value": HOSTILE}]
    made = execution(steps, start={"PipelineParameters": values, "PipelineExecutionDescription": HOSTILE})
    made.simulated("given Text=x\nTrain: 1 Failed SageMaker.X x\nitems Each x")
    progress = made.store.document(made.name, step_document("Train"))["Progress"]
    change = {"Key": f"Environment.{HOSTILE}", "Before": HOSTILE, "After": {HOSTILE: HOSTILE}}
    made.note(
        "Train",
        Job=HOSTILE,
        Note=HOSTILE,
        Arguments={"RoleArn": HOSTILE},
        Cache={"Why": HOSTILE, "Changes": [change]},
        Waits={"Token": HOSTILE, "Message": {HOSTILE: HOSTILE}, "Outputs": [{"Name": HOSTILE, "Type": "String"}]},
        Answer={"OutputParameters": {HOSTILE: HOSTILE}},
        Progress={**progress, "reason": HOSTILE, "ended": None, "state": "Executing"},
    )
    reader = made.reader
    assert reader.text.count(HOSTILE) > 10
    assert "script" not in reader.seen
    assert "<script" not in made.live
    assert re.search(r"<[^>]*\son[a-z]+=", made.live.replace(html.escape(HOSTILE), "")) is None
    made.end(HOSTILE)
    assert made.reader.text.count(HOSTILE) > 8


WAITING = """
Steps:
- {Name: Prepare, Type: Processing, Arguments: PROCESSING}
- Name: Approve
  Type: Callback
  SqsQueueUrl: https://sqs.us-east-1.amazonaws.com/111122223333/q
  OutputParameters: [{OutputName: by, OutputType: String}]
  Arguments: {}
- Name: Each
  Type: ForEach
  Arguments:
    IterableItems: [a, b, c]
    MaxConcurrency: 1
    ForEachBody: [{Name: Item, Type: Processing, Arguments: PROCESSING}]
- {Name: After, Type: Processing, Arguments: PROCESSING, DependsOn: [Approve]}
"""


def running(made: Stored, *, stopped: bool = False) -> Stored:
    """With steps in all states of an execution that runs."""
    execution = Execution(definition_of(with_requests(made.steps)))
    for each in execution.actions(0.0):
        execution.started(each.step)
    items = ["a", "b", "c"]
    execution.expanded("Each", items, 0.0)
    for each in execution.actions(1.0):
        execution.started(each.step)
    if stopped:
        execution.stop(2.0)
    made.put(execution, items={"Each": items})
    message = {"token": "Abc", "arguments": {}}
    return made.note("Approve", Waits={"Token": "Abc", "Message": message, "Outputs": [{"Name": "by"}]})


def test_what_runs_and_what_has_not_begun(execution: Callable[..., Stored]) -> None:
    made = running(execution(WAITING))
    assert [row.partition(" | 0.0 s")[0].partition(" | 1.0 s")[0] for row in made.rows] == [
        "Prepare | Processing | ● Executing",
        "Approve | Callback | ● Executing",
        "Each | ForEach | ● Executing",
        "Item-0 | Processing | ● Executing",
        "After | Processing | ○ Waiting",
        "Item-1 | Processing | ○ Waiting",
        "Item-2 | Processing | ○ Waiting",
    ]
    assert made.boxes == [
        "inprogress | Prepare | Processing | ● Executing",
        "inprogress | Approve | Callback | ● Executing, waits",
        "inprogress | Each | ForEach | ● Executing, 0 of 3 done",
        " | After | Processing | ○ Waiting",
    ]
    for text in ("smlocal pipeline succeed Abc --output by=VALUE", "smlocal pipeline fail Abc --reason TEXT"):
        assert text in made.page
    assert made.reader.headings[:2] == ["Waits for an answer", "Graph"]
    assert made.values["Approve"] == ['message |  | {"token": "(withheld)", "arguments": {}}']


def test_a_stop_leaves_out_what_had_not_begun(execution: Callable[..., Stored]) -> None:
    made = running(execution(WAITING), stopped=True).end()
    assert [row for row in made.rows if "Left out" in row] == [
        "After | Processing | - Left out | The execution ended before.",
        "Item-1 | Processing | - Left out | The execution ended before.",
        "Item-2 | Processing | - Left out | The execution ended before.",
    ]
    assert "Waits for an answer" not in made.reader.headings


def test_an_execution_of_which_nothing_has_begun(execution: Callable[..., Stored]) -> None:
    made = execution(WAITING).put(Execution(definition_of(with_requests(WAITING))))
    assert [each.split(" | ")[2] for each in made.rows] == ["○ Waiting"] * 4
    made.end("InternalServerError")
    assert [each.split(" | ")[2] for each in made.rows] == ["- Left out"] * 4


def test_a_definition_that_is_not_valid_any_more_is_said(execution: Callable[..., Stored]) -> None:
    made = execution(WAITING).put(Execution(definition_of(with_requests(WAITING)))).end()
    made.store.change_document(made.name, "job", lambda job: {**job, "Data": {**job["Data"], "Version": "1999"}})
    assert "The definition cannot be read any more: 1 problem in pipeline.yaml" in made.reader.text
    assert "2020-12-01" in made.reader.text


def test_selected_steps_and_results_that_are_used_again(execution: Callable[..., Stored]) -> None:
    config = {"SourcePipelineExecutionArn": f"{ARN}/before", "SelectedSteps": [{"StepName": "Train"}]}
    made = execution(BRANCHES, start={"SelectiveExecutionConfig": config})
    definition = definition_of(with_requests(BRANCHES))
    before = Simulation(definition, script_of(SCRIPT)).run().execution.progress["Prepare"]
    kept = {"Prepare": replace(before, reused=f"{ARN}/before")}
    run = Execution(definition, kept=kept, selected=["Train"])
    for each in run.actions(0.0):
        run.started(each.step)
    made.put(run)
    assert made.rows[:3] == [
        "Train | Training | ● Executing | 0.0 s",
        "Prepare | Processing | ✓ Succeeded | The result of before is used.",
        "Good | Condition | - Left out | It is not selected.",
    ]
    assert "completed | Prepare | Processing | ✓ Succeeded, reused" in made.boxes
    assert made.page.count('<svg class="of-rule"') == 1


def test_a_retry_uses_what_has_succeeded(execution: Callable[..., Stored]) -> None:
    definition = definition_of(with_requests(BRANCHES))
    before = Simulation(definition, script_of(SCRIPT)).run().execution.progress["Prepare"]
    run = Execution(definition, kept={"Prepare": replace(before, began=-100.0, ended=-90.0)})
    for each in run.actions(0.0):
        run.started(each.step)
    made = execution(BRANCHES).put(run)
    assert made.rows[:2] == [
        "Train | Training | ● Executing | 0.0 s",
        "Prepare | Processing | ✓ Succeeded | The result from before the retry is used.",
    ]
    assert made.page.count('<svg class="of-rule"') == 1


def many(number: int, more: str = "") -> str:
    lines = [f"- {{Name: S{each}, Type: Processing, Arguments: PROCESSING{more}}}" for each in range(number)]
    return "\n".join(["Steps:", *lines])


@pytest.mark.parametrize(("number", "drawn"), [(1, False), (2, True), (150, True), (151, False)])
def test_a_graph_is_drawn_if_it_can_be_read(number: int, drawn: bool, execution: Callable[..., Stored]) -> None:
    made = execution(many(number)).simulated().end()
    assert len(made.boxes) == (number if drawn else 0)
    assert len(made.rows) == number
    assert ("too large to be drawn" in made.page) == (number > 150)


@pytest.mark.slow(2)
def test_of_many_steps_those_that_failed_come_first_and_values_have_an_end(execution: Callable[..., Stored]) -> None:
    made = execution(many(600)).simulated("S599: 1 Failed SageMaker.X x\nparallel 50")
    waits = {"Token": "t", "Message": {"text": "x" * 10_000}}
    documents = made.store.read(made.name, [step_document(f"S{each}") for each in range(600)]).documents
    made.store.put_documents(made.name, {kind: {**each, "Waits": waits} for kind, each in documents.items()})
    made.end("Step failure")
    page, rows = made.page, made.rows
    assert rows[0].startswith("S599 | Processing | ✗ Failed")
    assert len(rows) == 500
    assert "100 more steps: see" in page
    values = page.partition("<h2>Values that flowed</h2>")[2].partition("</section>")[0]
    assert "more steps: see <code>" not in values
    assert re.search(r"\d+ more steps: see smlocal describe --json", values)
    assert 20_000 < len(values) < 100_000


def test_arrows_that_say_nothing_new_are_left_out_of_a_dense_graph(execution: Callable[..., Stored]) -> None:
    before = [", ".join(f"S{at}" for at in range(each)) for each in range(12)]
    lines = [
        f"- {{Name: S{each}, Type: Processing, Arguments: PROCESSING, DependsOn: [{names}]}}"
        for each, names in enumerate(before)
    ]
    made = execution("\n".join(["Steps:", *lines])).simulated().end()
    graph = page_parts(made.store, read_job_report(made.store, made.name, BEGAN).view).sections[1].blocks[0]
    assert isinstance(graph, Graph)
    assert [(each.start, each.end) for each in graph.arrows] == [(each, each + 1) for each in range(11)]


def test_the_job_of_a_step_names_the_execution(store: Store) -> None:
    job = StoredJob(store=store, name="pipelines-abc-Train")
    job.begin()
    by = {"Arn": f"{ARN}/now", "Name": "p-now", "Run": "0" * 8, "Step": HOSTILE, "Attempt": 1}
    store.put_document(job.name, STEP_OF, by)
    report = read_job_report(store, job.name, BEGAN + 10)
    assert f"Training job of the step {HOSTILE} of the execution p-now" in read(render_report(report)).text
    page = render("partials/outcome.html", **about_job(report), address="/-/jobs/x")
    assert 'of the execution <a href="/-/jobs/p-now">p-now</a>' in page
