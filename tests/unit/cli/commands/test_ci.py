"""What commands say to a CI service, without an engine."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.kit import Run

OFF = {"GITHUB_ACTIONS": "", "GITLAB_CI": "", "TF_BUILD": "", "GITHUB_WORKSPACE": "", "BUILD_SOURCESDIRECTORY": ""}


@pytest.fixture
def job_file(tmp_path: Path) -> Path:
    """A job file with mistakes in its third and fourth line, in a repository."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "jobs").mkdir()
    path = tmp_path / "repo" / "jobs" / "a,b.yaml"
    path.write_text(
        "AlgorithmSpecification: {TrainingImage: any, TrainingInputMode: File}\nResourceConfig:\n"
        "  InstanceCount: 0\n  InstanceType: ml.m5.lrge\nOutputDataConfig: {S3OutputPath: out}\n"
    )
    return path


@pytest.mark.slow(0.5)
def test_a_refused_job_is_annotated_at_its_line_on_github(smlocal: Run, job_file: Path) -> None:
    done = smlocal("run", job_file.name, cwd=job_file.parent, **OFF | {"GITHUB_ACTIONS": "true"})
    assert done.returncode == 2
    first, second, *rest = done.stderr.splitlines()
    assert first.startswith(
        "::error file=jobs/a%2Cb.yaml,line=3,title=smlocal%3A request-invalid::ResourceConfig.InstanceCount: must be"
    )
    assert second.startswith(
        "::error file=jobs/a%2Cb.yaml,line=4,title=smlocal%3A request-invalid::Value 'ml.m5.lrge' at"
    )
    assert "error: " in rest[0]  # as ever


@pytest.mark.slow(0.5)
def test_on_azure_by_name_and_on_gitlab_not_at_all(smlocal: Run, job_file: Path) -> None:
    said = smlocal("run", job_file.name, "--ci", "azure", cwd=job_file.parent, **OFF).stderr
    assert said.startswith("##vso[task.logissue type=error;sourcepath=jobs/a,b.yaml;linenumber=3;")
    for words, variables in (((), {"GITLAB_CI": "true"}), (("--ci", "plain"), {"GITHUB_ACTIONS": "true"}), ((), {})):
        assert smlocal("run", job_file.name, *words, cwd=job_file.parent, **OFF | variables).stderr.startswith(
            "error: "
        )


def test_an_error_that_names_no_line_is_annotated_once(smlocal: Run, job_file: Path) -> None:
    job_file.unlink()
    done = smlocal("run", job_file.name, "--ci", "github", cwd=job_file.parent, **OFF)
    first, *rest = done.stderr.splitlines()
    assert first.startswith("::error file=jobs/a%2Cb.yaml,line=1,title=smlocal%3A job-file-missing::the job file")
    assert not any(line.startswith("::") for line in rest)


def test_a_file_outside_the_repository_is_not_named(smlocal: Run, job_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(job_file.read_text())
    said = smlocal("run", str(other), "--ci", "github", cwd=job_file.parent, **OFF).stderr
    assert said.startswith("::error title=smlocal%3A request-invalid::")


@pytest.mark.parametrize("path", ["gone/report.xml", "."])
def test_a_junit_file_that_could_not_be_written_is_refused_first(
    path: str, smlocal: Run, remember: Callable[..., None], tmp_path: Path
) -> None:
    remember("done")
    for words in (("run", "--image", "any"), ("wait", "done")):
        done = smlocal(*words, "--junit", path, cwd=tmp_path, DOCKER_HOST="x")
        assert done.returncode == 2
        assert "[output-unusable]" in done.stderr


def test_two_reports_in_one_file_are_refused(smlocal: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "r")
    done = smlocal("run", "--image", "any", "--junit", path, "--report", path, DOCKER_HOST="x")
    assert done.returncode == 2
    assert "the same file" in done.stderr


def test_wait_writes_a_case_for_each_job(smlocal: Run, remember: Callable[..., None], tmp_path: Path) -> None:
    from smlocal.jobs.store.lease import Lease

    remember("one")
    remember("two", reason="AlgorithmError: first line\nsecond, exit code: 1", local={"Hints": ["look"]})
    remember("three", ended=False)
    lease = Lease.take(str(tmp_path / "jobs" / "three"))
    assert lease is not None
    path = tmp_path / "report.xml"
    with lease:
        done = smlocal("wait", "one", "two", "three", "--timeout", "0.1", "--junit", str(path))
    assert done.returncode == 124
    (suite,) = ET.parse(path).getroot()
    assert suite.get("tests") == "3"
    assert suite.get("failures") == "2"
    one, two, three = suite
    assert (one.get("name"), one.get("classname"), one.get("time"), list(one)) == ("one", "smlocal.job", "2.600", [])
    failure = two[0]
    assert failure.attrib == {"type": "Failed", "message": "AlgorithmError: first line"}
    assert failure.text == "AlgorithmError: first line\nsecond, exit code: 1\nhint: look"
    assert three[0].attrib == {"type": "InProgress", "message": "the job is InProgress (Training)"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("my-image", "--sarif", "out.sarif"), "name the Dockerfile with --dockerfile"),
        (("my-image", "--dockerfile", "../../Dockerfile", "--sarif", "out.sarif"), "../../Dockerfile is not in it"),
        (("a,b.yaml", "--sarif", "gone/out.sarif"), "[output-unusable]"),
        (("my-image", "--junit", "gone/out.xml"), "[output-unusable]"),
        (("a,b.yaml", "--junit", "same", "--sarif", "./same"), "the same file"),
    ],
)
def test_a_report_of_a_check_that_could_not_be_written_is_refused_first(
    words: tuple[str, ...], said: str, smlocal: Run, job_file: Path
) -> None:
    done = smlocal("check", *words, cwd=job_file.parent, DOCKER_HOST="x", **OFF)
    assert done.returncode == 2
    assert said in done.stderr
    assert [path.name for path in job_file.parent.iterdir()] == [job_file.name]
