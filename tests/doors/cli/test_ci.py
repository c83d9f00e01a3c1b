"""`run` on a CI service, with real containers: its JUnit file, its annotation and its summary."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.kit import Run, until


def case_of(path: Path) -> ET.Element:
    ((case,),) = ET.parse(path).getroot()
    return case


@pytest.mark.parametrize("hosts", [1, 2])
def test_the_junit_file_of_a_job_that_fails(
    hosts: int, smlocal_run: Run, image: Callable[[str], str], tmp_path: Path
) -> None:
    script = r"printf '\033[1mred\033[0m <]]>\n\377'; printf 'why\nmore' >/opt/ml/output/failure; exit 3"
    job = ("--image", image("sh"), "--name", f"junit-{hosts}", "-e", f"SCRIPT={script}", "--output", "out")
    done = smlocal_run(
        "run", *job, "--junit", "report.xml", "--instance-count", str(hosts), "--ci", "plain", cwd=tmp_path
    )
    assert done.returncode == 1
    assert "::error" not in done.stderr
    case = case_of(tmp_path / "report.xml")
    assert case.get("name") == f"junit-{hosts}"
    assert float(case.get("time", 0)) > 0
    failure, output = case
    assert failure.attrib == {"type": "Failed", "message": "AlgorithmError: why"}
    assert failure.text == "AlgorithmError: why\nmore, exit code: 3"
    shown = "#033[1mred#033[0m <]]>\n\ufffd"
    assert output.text == (shown if hosts == 1 else f"algo-1:\n{shown}\nalgo-2:\n{shown}")


@pytest.mark.slow(1)
def test_the_name_of_a_case_has_no_time(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    stem = image("sh").partition(":")[0]
    names = []
    for run in ("a", "b"):
        job = ("--image", image("sh"), "-e", "SCRIPT=echo said", "--report", f"{run}.json", "--junit", f"{run}.xml")
        assert smlocal_run("run", *job, cwd=tmp_path).returncode == 0
        names.append(json.loads((tmp_path / f"{run}.json").read_text())["TrainingJobName"])
        case = case_of(tmp_path / f"{run}.xml")
        assert case.get("name") == stem
        assert case[0].text == f"job {names[-1]}\nsaid"
    assert smlocal_run("wait", *names, "--junit", "both.xml", cwd=tmp_path).returncode == 0
    cases = ET.parse(tmp_path / "both.xml").getroot().iter("testcase")
    assert [each.get("name") for each in cases] == names


def test_github_gets_an_annotation_and_a_summary(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "job.yaml").write_text(f"""
AlgorithmSpecification: {{TrainingImage: {image("sh")}, TrainingInputMode: File}}
Environment: {{SCRIPT: "printf 'a|b' >/opt/ml/output/failure; exit 3"}}
OutputDataConfig: {{S3OutputPath: ./out}}
ResourceConfig: {{InstanceType: ml.m5.large, InstanceCount: 1}}
""")
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    github = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
    done = smlocal_run("run", "job.yaml", "--name", "annotated", "--json", cwd=tmp_path, env=github)
    assert done.returncode == 1
    annotation = "::error file=job.yaml,line=1,title=job annotated%3A Failed::AlgorithmError: a|b, exit code: 3"
    assert annotation in done.stderr.splitlines()
    assert "::" not in done.stdout
    begin, *_ = done.stderr.splitlines()
    assert begin == "::group::smlocal run annotated"
    inside, _, below = done.stderr.partition("\n::endgroup::\n")
    assert "Training" in inside
    assert below.startswith("Failed: AlgorithmError")
    begin, _, table = summary.read_text().partition("<table>")
    assert begin == "before\n"
    assert "<tr><td>annotated</td><td>Failed</td><td>" in table
    assert "</td><td>AlgorithmError: a|b, exit code: 3</td></tr>" in table


@pytest.mark.parametrize("way", [("--ci", "gitlab"), ("--ci", "gitlab", "--quiet"), ("--ci", "plain")])
def test_the_group_on_gitlab(
    way: tuple[str, ...], smlocal_run: Run, image: Callable[[str], str], tmp_path: Path
) -> None:
    job = ("--image", image("sh"), "--name", "folded", "-e", "SCRIPT=echo said", "--output", "out")
    done = smlocal_run("run", *job, *way, cwd=tmp_path)
    assert done.returncode == 0
    marks = [line.partition(":")[0].removeprefix("\x1b[0K") for line in done.stderr.splitlines() if "section_" in line]
    assert marks == (["section_start", "section_end"] if way == ("--ci", "gitlab") else [])


def test_a_refused_run_ends_its_group(smlocal_run: Run, tmp_path: Path) -> None:
    job = ("--image", "not-there:1", "--pull", "never", "--name", "unfolded", "--output", "out")
    done = smlocal_run("run", *job, "--ci", "github", cwd=tmp_path)
    assert done.returncode == 3
    marks = [line.partition(" ")[0] for line in done.stderr.splitlines() if line.startswith("::")]
    assert marks == ["::group::smlocal", "::endgroup::", "::error"]


@pytest.mark.slow(1)
def test_a_job_that_completes_detached(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    job = ("--image", image("sh"), "--name", "junit-behind", "-e", "SCRIPT=echo said", "--output", "out")
    path = tmp_path / "report.xml"
    assert smlocal_run("run", *job, "--detach", "--junit", "report.xml", cwd=tmp_path).returncode == 0
    until(path.exists)
    case = case_of(path)
    assert [(each.tag, each.text) for each in case] == [("system-out", "said")]
    assert smlocal_run("wait", "junit-behind", "--junit", "again.xml", cwd=tmp_path).returncode == 0
    assert ET.tostring(case_of(tmp_path / "again.xml")) == ET.tostring(case)
