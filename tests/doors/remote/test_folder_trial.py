"""Whether an engine shares folders: what counts as an answer, and what does not."""

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.jobs.fail.test_engine_calls import Faulty

from smlocal.engine.engines import connect, connect_to
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.jobs.planning.aspects.engines.look_folders import LABEL, tried_key, with_folder_facts
from smlocal.jobs.store.remembered import remember_tried, tried


@pytest.mark.slow(2)
def test_an_engine_that_fails_is_no_answer(
    tmp_path: Path, image: Callable[[str], str], docker: Callable[..., str]
) -> None:
    """Whatever goes wrong at any call, nothing is remembered, and the next job tries again."""
    tag, home = image("sh"), tmp_path / "home"
    home.mkdir()
    concluded = []
    for fault in ("dies once", "answers {} once"):
        for number in range(6):
            with closing(Faulty(fault, number, tmp_path, remote=False)) as faulty:
                engine = connect_to(faulty.address)
                facts, found = replace(connect().facts(), identity=f"{fault} {number}"), connect().image(tag)
                try:
                    said = with_folder_facts(facts, engine, found, str(home))
                except (EngineError, MachineNotReadyError):
                    pass
                else:
                    assert said.shares_folders
                    assert faulty.struck.is_set()
                known = tried(str(home), tried_key(facts, str(home)))
                concluded.append(known is not None)
                assert known is None or known["SharesFolders"]
                if known is None:
                    again = with_folder_facts(facts, engine, found, str(home))
                    assert (again.shares_folders, again.untried) == (True, None)
    assert not all(concluded)
    assert [each.name for each in home.iterdir()] == ["engines.json"]
    for each in docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={LABEL}").split():
        with suppress(AssertionError):  # that of another test, which is gone by now
            if str(home) in docker("inspect", "--format", "{{json .Mounts}}", each):
                docker("rm", "--force", each)  # its removal was struck


def test_a_damaged_entry_counts_as_none(tmp_path: Path, image: Callable[[str], str]) -> None:
    engine = connect()
    facts = engine.facts()
    damaged = {"SharesFolders": "no", "SameMounts": True, "Slowness": None}
    remember_tried(str(tmp_path), tried_key(facts, str(tmp_path)), damaged)
    found = with_folder_facts(facts, engine, engine.image(image("sh")), str(tmp_path))
    assert found.shares_folders
    assert '"SharesFolders": true' in (tmp_path / "engines.json").read_text()
