"""Every benchmark is in the table, among all, and among those that the tests run."""

import re
from pathlib import Path

import pytest
from tests.stress.test_benchmarks import BENCHMARKS, ROWS

ROOT = Path(__file__).parents[2]
SCRIPTS = {
    file.stem
    for file in BENCHMARKS.glob("*.py")
    if re.search(r"^from results import .*\bmain\b", file.read_text(encoding="utf-8"), re.MULTILINE)
}


def test_every_benchmark_runs_in_a_test() -> None:
    assert {*ROWS} == SCRIPTS


def test_every_benchmark_has_its_row() -> None:
    readme = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert {*re.findall(r"^\| `(\w+)\.py` \|", readme, re.MULTILINE)} == SCRIPTS


def test_all_are_all() -> None:
    run_all = (BENCHMARKS / "run-all").read_text(encoding="utf-8")
    assert {*re.findall(r"^import (\w+)(?: as \w+)?$", run_all, re.MULTILINE)} - {"os", "sys"} == SCRIPTS


def test_programs_are_files() -> None:
    """A program in a text is read by no tool: five benchmarks did not run for a week, and nothing said so."""
    for file in BENCHMARKS.glob("*.py"):
        assert not re.search(r'^\w+ = (\(\n.*)?f?"""$', file.read_text(encoding="utf-8"), re.MULTILINE), file


def test_the_costs_of_a_commit_take_the_place_of_what_was_measured_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import costs

    kept = tmp_path / "RESULTS.md"
    kept.write_text((BENCHMARKS / "RESULTS.md").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(costs, "RESULTS", kept)
    before = kept.read_text(encoding="utf-8").splitlines()

    def cost(commit: str, of: str, seconds: float) -> "costs.Cost":
        return costs.Cost(commit=commit, of=of, seconds=seconds, docker=0.3, processor=0.1, click=0.03)

    costs.keep_costs([cost("bbbb", "2001-01-02 00:00", 0.5), cost("aaaa", "2001-01-01 00:00", 0.4)])
    costs.keep_costs([cost("bbbb", "2001-01-02 00:00", 0.6)])
    after = kept.read_text(encoding="utf-8").splitlines()
    known = {*before}
    added = [line for line in after if line not in known]
    assert [line.split(" | ")[:4] for line in added] == [
        ["| aaaa", "2001-01-01 00:00", "400 ms", "1.33"],
        ["| bbbb", "2001-01-02 00:00", "600 ms", "2.00"],
    ]
    assert [line for line in after if line not in added] == before


def test_a_run_takes_the_place_of_the_last_run_of_its_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import results

    kept = tmp_path / "RESULTS.md"
    kept.write_text(results.HEAD + results.TABLE_HEAD, encoding="utf-8")
    monkeypatch.setattr(results, "RESULTS", kept)

    def figure(what: str, value: str) -> "results.Figure":
        return results.Figure(what=what, ours="1 s", theirs="", figure=value, bound="2", met=True)

    results.record(
        {"stop": [figure("a | b", "1"), figure(f"{results.OTHER_COMMIT} abc", "1")], "idle": [figure("c", "1")]}
    )
    results.record({"stop": [figure("d", "2"), figure("a | b", "2")]})
    table = kept.read_text(encoding="utf-8").partition(results.TABLE_HEAD)[2].splitlines()
    assert [(line.split(" | ")[0], line.split(" | ")[-1]) for line in table] == [
        ("| c", "`idle` |"),
        ("| d", "`stop` |"),
        ("| a \\| b", "`stop` |"),
    ]


def test_the_table_has_figures_of_scripts_that_are_there() -> None:
    table = (BENCHMARKS / "RESULTS.md").read_text(encoding="utf-8").partition("| script |\n")[2]
    assert {*re.findall(r"`(\w+)` \|$", table, re.MULTILINE)} <= SCRIPTS
