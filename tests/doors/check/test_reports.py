"""`smlocal check` on CI services: files, annotations, groups and the summary of a real image."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.kit import Run
from tests.kit.fixtures import build_image

RULES = ("--only", "train-missing", "--only", "reserved-files")
DOCKERFILE = "ARG BASE=busybox:stable\nFROM ${BASE}\nRUN mkdir -p /opt/ml/input && touch /opt/ml/input/left\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "image").mkdir()
    (tmp_path / "repo" / "image" / "Dockerfile").write_text(DOCKERFILE)
    return tmp_path / "repo"


def test_github(checkout: Path, smlocal_run: Run, tmp_path: Path) -> None:
    tag = build_image(checkout / "image")
    summary = tmp_path / "summary.md"
    github = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(checkout), "GITHUB_STEP_SUMMARY": str(summary)}
    files = ("--junit", "report.xml", "--sarif", "report.sarif")
    done = smlocal_run(
        *("check", tag, *RULES, "--static", "--dockerfile", "Dockerfile", *files), cwd=checkout / "image", env=github
    )
    assert done.returncode == 1, done.stderr
    begin, *shown = done.stdout.splitlines()
    assert begin == f"::group::smlocal check {tag}"
    end = shown.index("::endgroup::")
    assert any("train-missing" in line for line in shown[:end])
    annotations = shown[end + 1 :]
    assert {line.partition(",title=")[0] for line in annotations} <= {
        "::error file=image/Dockerfile,line=1",
        "::error file=image/Dockerfile,line=3",
        "::warning file=image/Dockerfile,line=3",
    }
    assert any(",title=train-missing::" in line for line in annotations)
    assert any("line=3,title=reserved-files::" in line for line in annotations)
    assert "<h3>smlocal check " in summary.read_text()
    (suite,) = ET.parse(checkout / "image" / "report.xml").getroot()
    assert [case.get("name") for case in suite if case.find("failure") is not None]
    (run,) = json.loads((checkout / "image" / "report.sarif").read_text())["runs"]
    places = {each["ruleId"]: each["locations"][0]["physicalLocation"] for each in run["results"]}
    assert {place["artifactLocation"]["uri"] for place in places.values()} == {"image/Dockerfile"}
    assert places["reserved-files"]["region"]["startLine"] == 3


@pytest.mark.parametrize(
    ("service", "group"), [("gitlab", "\x1b[0Ksection_start:"), ("azure", "##[group]"), ("plain", "")]
)
def test_other_services(service: str, group: str, checkout: Path, smlocal_run: Run) -> None:
    tag = build_image(checkout / "image")
    done = smlocal_run("check", tag, *RULES, "--static", "--ci", service, cwd=checkout)
    assert done.returncode == 1
    assert done.stdout.startswith(group)
    assert ("##vso[task.logissue type=error;" in done.stdout) == (service == "azure")
    document = json.loads(smlocal_run("check", tag, *RULES, "--static", "--ci", service, "--json").stdout)
    assert document["Check"]["Image"] == tag
