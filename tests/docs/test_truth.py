"""Facts of the contract: each has its evidence, and tests that hold it."""

import re

from pages import truth
from tests.contract.records.verdicts import NOT_HERE, OLDER, all_records, compared

FACTS = [fact for found in truth.facts().values() for fact in found]


def test_each_kind_of_jobs_has_many_and_each_fact_has_a_name_of_its_own() -> None:
    counts = {kind: sum(map(len, truth.facts_of(kind).values())) for kind in truth.KINDS}
    assert sum(counts.values()) == len(FACTS)
    assert {file.stem for file in truth.FOLDER.iterdir()} == counts.keys()
    assert counts["training"] >= 130
    assert all(counts[kind] >= 30 for kind in ("hosting", "transform", "processing", "tuning"))
    names = [name for kind in truth.KINDS for name in truth.sources_of(kind)]
    assert len(names) == len(truth.SOURCES)
    assert len({fact.id for fact in FACTS} | all_records().keys()) == len(FACTS) + len(all_records())
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fact.id) for fact in FACTS)


def test_each_is_a_sentence_with_its_evidence_and_a_date() -> None:
    for fact in FACTS:
        assert fact.fact.endswith("."), fact.id
        assert fact.evidence in truth.EVIDENCE, fact.id
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", fact.date), fact.id
        assert bool(fact.source) is not bool(fact.why), fact.id
        assert (fact.evidence == "inferred") is bool(fact.why), fact.id
        assert not fact.why or fact.why.endswith("."), fact.id


def test_each_is_held_by_a_test() -> None:
    assert [fact.id for fact in FACTS if not fact.tests] == []


def test_documented_facts_have_an_address_and_seen_ones_may_be_of_a_record() -> None:
    for fact in FACTS:
        if fact.evidence == "documented":
            assert all("url" in truth.SOURCES.get(name, {}) for name in fact.source), fact.id
        assert {*fact.source} <= truth.SOURCES.keys() | all_records().keys(), fact.id


def test_every_source_is_used() -> None:
    used = {name for fact in FACTS for name in fact.source}
    assert used >= truth.SOURCES.keys()
    assert not truth.SOURCES.keys() & all_records().keys()


def test_no_fact_says_the_same_as_another() -> None:
    assert len({fact.fact for fact in FACTS}) == len(FACTS)


def test_the_page_has_every_fact_and_every_record() -> None:
    page = truth.truth_markdown()
    assert re.findall(r"<span id='([^']+)'></span>", page) == [*(fact.id for fact in FACTS), *all_records()]
    agree = len(compared()) - len(OLDER) - len(NOT_HERE)
    assert page.startswith(f"{len(FACTS)} facts: ")
    assert page.count(f"{agree} of {len(compared())} public records agree with smlocal in everything they say.") == 2
    assert f"{len(all_records())} records, {len(compared())} of them about training jobs." in page
    assert f"- {len(OLDER)} have words that the service has since changed: " in page
    assert f"- {len(NOT_HERE)} have something that smlocal does not have: " in page
    assert (page.count("| older words: "), page.count("| smlocal does not have ")) == (len(OLDER), len(NOT_HERE))
    assert page.count("| agrees |") == agree
