"""What is found out before an execution is made."""

from pathlib import Path
from typing import Any

import pytest

from smlocal.errors import RequestRefusedError
from smlocal.jobfile.reading import load_document
from smlocal.pipelines import planning
from smlocal.pipelines.job_file import READING

PIPELINE = """\
Version: "2020-12-01"
Steps:
  - {Name: One, Type: EMR, Arguments: {}}
  - {Name: Two, Type: EMR, Arguments: {}}
  - {Name: Three, Type: EMR, Arguments: {}}
Local:
  Steps:
    One: {Command: [%s]}
    Two: {Command: [%s, x]}
    Three: {Python: "%s:handler"}
"""


def plan(folder: Path, *stand_ins: str) -> list[str]:
    engines: Any = None
    document = load_document(PIPELINE % stand_ins, name="p", directory=str(folder))
    file = READING.read(document, strict=True)
    found = planning.plan_job(file, name="p-1", home=str(folder), engines=engines, strict=True)
    return [each.text for each in found.notes if each.id == "stand-in"]


def test_stand_ins_that_are_not_here(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "three.py").touch()
    with pytest.raises(RequestRefusedError) as raised:
        plan(tmp_path, "no-such-program", "./run.sh", "no/three.py")
    assert [" ".join(each.split()) for each in raised.value.details] == [
        "p:8 Local.Steps.One.Command: there is no program no-such-program",
        "p:9 Local.Steps.Two.Command: there is no program ./run.sh",
        "p:10 Local.Steps.Three.Python: there is no file no/three.py",
    ]
    (tmp_path / "run.sh").chmod(0o755)
    assert plan(tmp_path, "sh", "./run.sh", "three.py") == [
        "One: sh runs, in place of the service's step",
        "Two: ./run.sh x runs, in place of the service's step",
        "Three: three.py:handler runs, in place of the service's step",
    ]
