"""The section about public records says what the test that replays them expects."""

import re
from collections.abc import Callable

from tests.contract.records.verdicts import NOT_HERE, OLDER, all_records, compared


def test_the_counts_and_the_table_are_those_of_the_test(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    text = sections(page("fidelity.md"))["Public records"]
    several = len(compared())
    agree = several - len(OLDER) - len(NOT_HERE)
    assert f"Of {len(all_records())} records {several} are about training jobs" in text
    assert f"{agree} of {several} public records agree in all that they say." in text
    assert f"{len(OLDER)} have words that the service has changed since." in text
    assert f"{len(NOT_HERE)} have something that smlocal does not have." in text
    named = [name for row in rows(text) for name in re.findall(r"`([^`]+)`", row[0])]
    assert sorted(named) == sorted([*OLDER, *NOT_HERE])


def test_no_record_names_an_account_or_a_bucket() -> None:
    for name, record in all_records().items():
        text = str(record)
        assert {*re.findall(r"\b\d{12}\b", text)} <= {"111122223333"}, name
        assert {*re.findall(r"s3://([^/\"' ]+)", text)} <= {"bucket"}, name
