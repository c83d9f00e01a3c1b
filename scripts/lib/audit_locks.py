"""What `scripts/audit` runs: pip-audit on locks, and what became of it."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_CONNECT_SECONDS = "15"
_SECONDS = 900.0
"""For all packages: each is one question."""
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)")
_ACCEPTED: Mapping[str, str] = {}
"""Ids of advisories that concern nothing here, each with the reason."""


def _packages(locks: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """Name and version of each locked package, with the locks that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for lock in locks:
        for line in Path(lock).read_text(encoding="utf-8").splitlines():
            pin = _PIN.match(line)
            if pin is not None:
                key = (re.sub(r"[-_.]+", "-", pin[1]).lower(), pin[2])
                found.setdefault(key, []).append(os.path.relpath(lock))
    return found


def _files(packages: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Requirements files that have each package once: a lock may have two versions, for two Pythons."""
    rest = list(packages)
    while rest:
        names: set[str] = set()
        now = [pin for pin in rest if not (pin[0] in names or names.add(pin[0]))]  # type: ignore[func-returns-value]
        rest = [pin for pin in rest if pin not in now]
        yield "".join(f"{name}=={version}\n" for name, version in now)


def _audit(requirements: str, service: Sequence[str]) -> list[dict[str, Any]] | None:
    """The findings of pip-audit for each package; None if the service did not answer."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder, "requirements.txt"), Path(folder, "answer.json")
        asked.write_text(requirements, encoding="utf-8")
        command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--requirement", str(asked)]
        command += [*service, "--format", "json", "--output", str(answer), "--progress-spinner", "off"]
        command += ["--timeout", _CONNECT_SECONDS, "--cache-dir", str(Path(folder, "cache"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        if not answer.exists():
            print(f"  {' '.join(service)}: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}", file=sys.stderr)
            return None
        found: list[dict[str, Any]] = json.loads(answer.read_text(encoding="utf-8"))["dependencies"]
    if all("skip_reason" in each for each in found):  # a mirror, which has packages and no advisories
        print(f"  {' '.join(service)}: it knows none of the packages", file=sys.stderr)
        return None
    return found


def main(locks: Sequence[str]) -> int:
    own = os.environ.get("SMLOCAL_OSV_URL")
    services = [["--vulnerability-service", each] for each in ("osv", "pypi")]
    if own:
        services = [["--vulnerability-service", "osv", "--osv-url", own]]
    packages = _packages(locks)
    if not packages:
        print("error: no package is locked there", file=sys.stderr)
        return 2
    files = list(_files(list(packages)))
    for service in services:
        if _audit(files[0].splitlines(keepends=True)[0], service) is not None:  # one question shows whether it answers
            return _judge([_audit(each, service) for each in files], packages)
    print(f"audit: no database of advisories can be reached: {len(packages)} locked packages were NOT audited")
    return 0


def _judge(answers: Sequence[list[dict[str, Any]] | None], packages: Mapping[tuple[str, str], list[str]]) -> int:
    known = [each for answer in answers for each in answer or ()]
    bad = 0
    for each in known:
        for advisory in each.get("vulns", ()):
            ids = {advisory["id"], *advisory.get("aliases", ())}
            accepted = next((_ACCEPTED[one] for one in sorted(ids) if one in _ACCEPTED), None)
            where = packages.get((re.sub(r"[-_.]+", "-", each["name"]).lower(), each["version"]), [])
            print(f"{each['name']} {each['version']}: {', '.join(sorted(ids))}")
            print(f"  in {', '.join(where)}")
            if accepted is not None:
                print(f"  accepted: {accepted}")
                continue
            bad += 1
            fixed = ", ".join(advisory.get("fix_versions") or ()) or "no version yet"
            print(f"  fixed in {fixed}: scripts/lock --upgrade-package {each['name']}")
    skipped = sorted(each["name"] for each in known if "skip_reason" in each)
    unanswered = answers.count(None)
    if skipped or unanswered:
        print(f"audit: not audited: {', '.join(skipped) or f'{unanswered} parts'}")
    print(f"audit: {len(packages)} locked packages, {bad} known vulnerabilities")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
