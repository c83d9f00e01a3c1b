from pathlib import Path

import pytest

from smlocal.base.ci.repository import as_uri, in_repository, repository_root


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "images" / "a").mkdir(parents=True)
    return tmp_path / "repo"


def test_the_root_is_where_git_is_or_where_the_service_says(checkout: Path) -> None:
    below = str(checkout / "images" / "a")
    assert repository_root({}, below) == str(checkout)
    assert repository_root({"GITHUB_WORKSPACE": str(checkout / "images")}, below) == str(checkout / "images")
    assert repository_root({"GITHUB_WORKSPACE": str(checkout / "elsewhere")}, below) == str(checkout)
    (checkout / ".git").rmdir()
    (checkout / ".git").touch()  # of a worktree or a submodule
    assert repository_root({}, below) == str(checkout)
    (checkout / ".git").unlink()
    assert repository_root({}, below) == below


def test_paths_are_relative_to_it(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = str(checkout)
    monkeypatch.chdir(checkout / "images")
    assert in_repository("a/Dockerfile", root) == "images/a/Dockerfile"
    assert in_repository("../job.yaml", root) == "job.yaml"
    assert in_repository("../..name", root) == "..name"
    assert in_repository(str(checkout / "images" / "Dockerfile"), root) == "images/Dockerfile"
    assert in_repository("../../job.yaml", root) is None
    assert in_repository("/etc/hosts", root) is None


def test_links(checkout: Path, tmp_path: Path) -> None:
    """A checkout that is reached by a link; a file that is one stays itself."""
    (tmp_path / "link").symlink_to(checkout)
    (checkout / "job.yaml").symlink_to("/etc/hosts")
    assert in_repository(str(tmp_path / "link" / "job.yaml"), str(checkout)) == "job.yaml"


def test_uris() -> None:
    assert as_uri("images/a b/Dockerfile#1%.gpu") == "images/a%20b/Dockerfile%231%25.gpu"
    assert as_uri("ü/\udcff") == "%C3%BC/%FF"
