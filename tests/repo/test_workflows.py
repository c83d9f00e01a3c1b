"""The workflows of GitHub: actions by commit, few rights, nothing for forks, scripts that exist; one address of all."""

import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
REPOSITORY: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]
ADDRESS = REPOSITORY.removeprefix("https://github.com/")
PINNED = re.compile(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+(?: .*)?")
SCRIPT = re.compile(r"(?:^|[\s;&|(])((?:scripts|\.ci)/[\w./-]+)")
EXPRESSION = re.compile(r"\$\{\{")
NAMED = re.compile(
    r"(?:uses:|--repo) ([\w.-]+/smlocal)\b|github\.com/([\w.-]+/smlocal)(?![\w-])"
    r"|github\.repository == '([^']+)'|(\w[\w-]*)\.github\.io/smlocal"
)
EVERY = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
Workflow = Mapping[str, Any]


@pytest.fixture
def workflow(path: Path) -> Workflow:
    read: Workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read


def steps(workflow: Workflow) -> Iterator[Mapping[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job.get("steps", ())


def events(workflow: Workflow) -> set[str]:
    """YAML reads the key `on` as True."""
    return {*workflow[True]}  # type: ignore[index]  # likewise


def rights(workflow: Workflow) -> dict[str, dict[str, str]]:
    return {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}


def test_there_are_four() -> None:
    assert {path.stem for path in WORKFLOWS} == {"ci", "docs", "nightly", "release"}


@EVERY
def test_actions_are_named_by_commit_with_the_version(path: Path) -> None:
    used = re.findall(r"^ *(?:- )?uses: (.*)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert used
    assert [each for each in used if not each.startswith("./") and not PINNED.fullmatch(each)] == []
    assert [each for each in used if each.startswith("./") and not (ROOT / each).exists()] == []


def test_one_action_has_one_commit() -> None:
    commits: dict[str, set[str]] = {}
    for path in (*WORKFLOWS, ROOT / "docs" / "ci.md"):
        for name, commit in re.findall(r"uses: ([\w./-]+)@([0-9a-f]{40} # \S+)", path.read_text(encoding="utf-8")):
            commits.setdefault(name, set()).add(commit)
    assert {name: found for name, found in commits.items() if len(found) > 1} == {}


@EVERY
def test_nothing_is_allowed_but_to_read_unless_a_job_says_so(workflow: Workflow) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job or "uses" in job for job in workflow["jobs"].values())


@EVERY
def test_a_fork_gets_no_right_and_no_secret(workflow: Workflow, path: Path) -> None:
    assert "pull_request_target" not in events(workflow)
    assert "workflow_run" not in events(workflow)
    assert "secrets." not in path.read_text(encoding="utf-8")
    if "pull_request" in events(workflow):
        writers = {name: workflow["jobs"][name].get("if", "") for name in rights(workflow)}
        assert all("github.event_name == 'push'" in condition for condition in writers.values()), writers


@EVERY
def test_a_checkout_keeps_no_credentials_where_nothing_is_pushed(workflow: Workflow) -> None:
    for job in workflow["jobs"].values():
        pushes = job.get("permissions", {}).get("contents") == "write"
        for step in job.get("steps", ()):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert (step.get("with", {}).get("persist-credentials") is False) is not pushes


@EVERY
def test_no_value_becomes_a_part_of_a_script(workflow: Workflow) -> None:
    assert [step["run"] for step in steps(workflow) if EXPRESSION.search(step.get("run", ""))] == []


@EVERY
def test_scripts_exist(path: Path) -> None:
    lines = (line.partition(" #")[0] for line in path.read_text(encoding="utf-8").splitlines())
    named = {name for line in lines for name in SCRIPT.findall(line)}
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_the_rights_of_a_release() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    assert rights(workflow) == {
        "attest": {"attestations": "write", "id-token": "write"},
        "publish": {"id-token": "write"},
        "release": {"contents": "write"},
    }
    jobs = workflow["jobs"]
    assert {*jobs["publish"]["needs"]} == {"test", "build", "attest"}
    assert jobs["publish"]["environment"] == "pypi"
    # Jobs that may write or sign run no code of this repository.
    assert not [step for name in rights(workflow) for step in jobs[name]["steps"] if "checkout" in step.get("uses", "")]


def test_the_pythons_are_those_of_the_package() -> None:
    ci, nightly = (yaml.safe_load((WORKFLOWS[0].parent / f"{name}.yml").read_text()) for name in ("ci", "nightly"))
    pythons = re.findall(r":: Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert ci["jobs"]["pythons"]["strategy"]["matrix"]["python"] == pythons
    (everything,) = (step for step in nightly["jobs"]["everything"]["steps"] if "setup-python" in step.get("uses", ""))
    assert sorted(everything["with"]["python-version"].split()) == pythons
    # The Python of .venv is found by its name.
    (named,) = re.findall(
        r"^ +for candidate in .* python3 (python3\..*); do$", (ROOT / "scripts/lib/venv.sh").read_text(), re.MULTILINE
    )
    assert named.split() == [f"python{version}" for version in reversed(pythons)]


def test_every_address_is_that_of_pyproject() -> None:
    """The address of the repository stands there. Change it there first; this test names the other places."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    if listed.returncode:
        pytest.skip("this is no work tree of git")
    others = set()
    seen = 0
    for name in listed.stdout.splitlines():
        if name.endswith((".md", ".yml", ".yaml", ".toml")) and (ROOT / name).is_file():
            for found in NAMED.finditer((ROOT / name).read_text(encoding="utf-8")):
                whole = found[1] or found[2] or found[3]
                seen += 1
                if (whole or f"{found[4]}/smlocal") != ADDRESS:
                    others.add((name, found[0]))
    assert others == set()
    assert seen > 10


@pytest.fixture
def notes(tmp_path: Path) -> Callable[[str], "subprocess.CompletedProcess[str]"]:
    """`scripts/release-notes` of a copy with a changelog of two releases."""
    (tmp_path / "scripts" / "lib").mkdir(parents=True)
    for name in ("scripts/release-notes", "scripts/lib/say.sh"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    releases = "## [1.2.0] - 2027-01-02\n\n### Added\n\n- new\n\n## [1.1.0]\n\n- old\n"
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n\n- later\n\n{releases}")

    def run(tag: str) -> "subprocess.CompletedProcess[str]":
        command = ["bash", str(tmp_path / "scripts" / "release-notes"), tag]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    return run


def test_the_notes_of_a_release_are_its_section(
    notes: Callable[[str], "subprocess.CompletedProcess[str]"], tmp_path: Path
) -> None:
    assert notes("v1.2.0").stdout == "### Added\n\n- new\n"
    wrong = notes("v1.2.1")
    assert (wrong.returncode, wrong.stdout) == (3, "")
    assert "the tag v1.2.1 is not that of the version in pyproject.toml, 1.2.0" in wrong.stderr
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n- later\n")
    assert "has no section for 1.2.0" in notes("v1.2.0").stderr
