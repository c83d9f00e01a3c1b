"""What `smlocal rerun` refuses before anything is run."""

import pytest
from tests.kit import Run

from smlocal.cli.job_options import member_values


@pytest.mark.parametrize(
    ("words", "said", "error"),
    [
        (("nobody",), "Requested resource not found.", "job-unknown"),
        (("nobody", "--set", "x"), "write PATH=VALUE", "usage"),
        (("nobody", "--set", "=x"), "write PATH=VALUE", "usage"),
        ((), "missing argument 'NAME'", "usage"),
        (("a", "b"), "unexpected extra argument", "usage"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], said: str, error: str, smlocal: Run) -> None:
    done = smlocal("rerun", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert f"[{error}]" in done.stderr


def test_values_are_json_where_they_can_be_and_text_in_maps_of_text() -> None:
    given = (
        "A=1",
        "B=true",
        "C=x=y",
        'D=["a"]',
        "E=",
        "HyperParameters.lr=0.1",
        "Environment.A=null",
        "F=" + "[" * 9999,
    )
    assert member_values(given) == {
        "A": 1,
        "B": True,
        "C": "x=y",
        "D": ["a"],
        "E": "",
        "HyperParameters.lr": "0.1",
        "Environment.A": "null",
        "F": "[" * 9999,
    }
