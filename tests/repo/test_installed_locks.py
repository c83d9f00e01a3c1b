"""Locks and their audit, with the real tools: what is not locked is not installed, and an advisory is a failure."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ROOT / "scripts" / "locks"
_SECONDS = 280


def entry(lock: Path, name: str) -> str:
    """A package of a lock with its hashes."""
    found = re.search(rf"^{name}==.*(?:\\\n    --hash.*)+", lock.read_text(), re.MULTILINE)
    assert found is not None
    return found[0] + "\n"


def run_bash(command: str, *arguments: str | Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """A command with the functions of the scripts."""
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail; . scripts/lib/setup.sh; {command}", "bash", *arguments],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("changed", [False, True])
def test_an_environment_has_only_what_the_lock_knows(tmp_path: Path, changed: bool) -> None:
    text = entry(LOCKS / "dev.txt", "six")
    lock = tmp_path / "lock.txt"
    lock.write_text(re.sub("sha256:[0-9a-f]{4}", "sha256:0000", text) if changed else text)
    made = run_bash('make_venv "$(find_python)" "$1" "$2"', tmp_path / "venv", lock)
    assert (made.returncode == 0) == (not changed), made.stderr
    assert bool(list(tmp_path.glob("venv/lib/python3*/site-packages/six.py"))) == (not changed)
    assert ("Hash mismatch for `six" in made.stderr) == changed


@pytest.mark.slow(16)
@pytest.mark.parametrize("changed", [False, True])
def test_a_wheel_is_made_only_of_the_source_that_the_lock_knows(tmp_path: Path, changed: bool) -> None:
    text = entry(LOCKS / "images" / "tests-kit-images-toolkit.txt", "inotify-simple")
    lock = tmp_path / "lock.txt"
    lock.write_text(re.sub("sha256:[0-9a-f]{4}", "sha256:0000", text) if changed else text)
    command = '. scripts/lib/bases.sh; cache=$1; see_to_wheel inotify_simple "$2"'
    made = run_bash(command, tmp_path / "cache", lock)
    assert (made.returncode == 0) == (not changed), made.stderr
    assert ("DO NOT MATCH THE HASHES" in made.stderr) == changed
    if not changed:
        assert [path.suffix for path in Path(made.stdout.strip()).iterdir()] == [".whl"]


class Advisories(BaseHTTPRequestHandler):
    """A database with one advisory."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = asked["package"]["name"] == "six" and asked["version"] == "1.17.0"
        affected = {
            "package": {"name": "six", "ecosystem": "PyPI"},
            "versions": ["1.17.0"],
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.18.0"}]}],
        }
        advisory = {"id": "GHSA-0000-0000-0000", "aliases": ["CVE-2026-0000"], "affected": [affected]}
        advisory |= {
            "summary": "bad",
            "details": "bad",
            "modified": "2026-01-01T00:00:00Z",
            "published": "2026-01-01T00:00:00Z",
        }
        answer = json.dumps({"vulns": [advisory]} if known else {}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Say nothing."""


@pytest.fixture
def database() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Advisories)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def audit(url: str, locks: Sequence[Path]) -> "subprocess.CompletedProcess[str]":
    return run_bash('exec scripts/audit "$@"', *locks, SMLOCAL_OSV_URL=url)


@pytest.mark.slow(0.5)
def test_a_known_advisory_is_a_failure(database: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text(entry(LOCKS / "dev.txt", "click"))
    bad.write_text(entry(LOCKS / "dev.txt", "click") + entry(LOCKS / "dev.txt", "six"))
    fine = audit(database, [good])
    assert (fine.returncode, fine.stdout) == (0, "audit: 1 locked packages, 0 known vulnerabilities\n"), fine.stderr
    found = audit(database, [good, bad])
    assert found.returncode == 1
    assert found.stdout.startswith("six 1.17.0: CVE-2026-0000, GHSA-0000-0000-0000\n")
    assert "fixed in 1.18.0: scripts/lock --upgrade-package six" in found.stdout
    assert "audit: 2 locked packages, 1 known vulnerabilities" in found.stdout


@pytest.mark.slow(18)
def test_without_a_database_it_says_that_nothing_was_audited(tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(entry(LOCKS / "dev.txt", "click"))
    done = audit("http://127.0.0.1:1/v1/query", [lock])
    assert done.returncode == 0
    assert done.stdout == "audit: no database of advisories can be reached: 1 locked packages were NOT audited\n"
