import pytest

from smlocal.terms.metrics import never_a_number


@pytest.mark.parametrize(
    ("regex", "never"),
    [
        (r"state=([a-z]+)", True),
        (r"cat=(dog|mouse);", True),
        (r"a(?:b(\D+)) ([0-9]+)", True),
        (r"x([^0-9]+)", True),
        (r"x(\s*)(\d)", True),
        (r"x((?=\d)[a-z]*)", True),
        (r"(?P<v>inf|nan)", True),
        (r"x()", True),
        (r"loss=([0-9.]+)", False),
        (r"cat=(.*?);", False),
        (r"x([^ ]+)", False),
        (r"x(\w+)", False),
        (r"x(\d+)", False),
        (r"x(a|b1)", False),
        (r"x((?:a|[0-9])+)", False),
        (r"(?:([0-9]+)|([a-z]+))", False),
        (r"(?<v>\S+)", False),
        (r"x([\S]+)", False),
        (r"(?:x|(?:y([a-z]+)))", True),
        (r"(", False),
        (r"no group", False),
    ],
)
def test_groups_that_never_match_a_number(regex: str, *, never: bool) -> None:
    assert never_a_number(regex) is never
