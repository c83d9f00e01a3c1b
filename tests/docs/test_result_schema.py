from collections.abc import Callable

from pages.inserted import with_tables

from smlocal.api.request_tables import job_file_schema
from smlocal.report.result_schema import result_schema


def test_the_local_block_is_that_of_the_page(
    page: Callable[[str], str], sections: Callable[[str], dict[str, str]], rows: Callable[[str], list[list[str]]]
) -> None:
    table = rows(sections(with_tables(page("result.md")))["The `Local` block"])
    listed = [name.strip("` ") for row in table for name in row[0].split(",")]
    assert listed == [*result_schema(job_file_schema("CreateTrainingJob"))["properties"]["Local"]["properties"]]
