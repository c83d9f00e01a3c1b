"""Records of the service have nothing that is somebody's own."""

import re

from tests.contract.records.verdicts import all_records


def test_no_record_names_an_account_or_a_bucket() -> None:
    for name, record in all_records().items():
        text = str(record)
        assert {*re.findall(r"\b\d{12}\b", text)} <= {"111122223333"}, name
        assert {*re.findall(r"s3://([^/\"' ]+)", text)} <= {"bucket"}, name
