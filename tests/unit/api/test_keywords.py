from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import smlocal
from smlocal.api.keywords import RUN_SWITCHES, check_keywords
from smlocal.errors import KeywordInvalidError
from smlocal.jobs.store.jobs import name_in_use


@pytest.mark.parametrize("call", [smlocal.run, smlocal.plan])
def test_an_unknown_keyword_is_refused(call: Any) -> None:
    with pytest.raises(
        TypeError,
        match=r"no keyword 'imagee'; did you mean 'image'\? There are add_hosts, .*, image, .*, wait_for_debugger$",
    ):
        call(imagee="any")


def test_the_list_is_that_of_the_call() -> None:
    call: Any = smlocal.run
    with pytest.raises(TypeError, match=r"did you mean 'replace'\? There are .*, detach, .*, replace, .*, show, "):
        call("job.yaml", replce=True)
    call = smlocal.plan
    with pytest.raises(TypeError, match="no keyword 'detach'") as refused:
        call("job.yaml", detach=True)
    there_are = str(refused.value).rpartition("here are ")[2].split(", ")
    assert "strict" in there_are
    assert not {"detach", "replace", "show"} & {*there_are}


def test_a_keyword_like_no_other_has_no_suggestion() -> None:
    call: Any = smlocal.run
    with pytest.raises(TypeError, match="no keyword 'qqq'; there are add_hosts, "):
        call(qqq=1)


@pytest.mark.parametrize(
    ("keywords", "says", "example"),
    [
        ({"channels": ["a=b"]}, "channels must be a dict, and is of the type list", "channels={"),
        ({"hyperparameters": [("a", 1)]}, "hyperparameters must be a dict, and is of the type list", "{'epochs': 3}"),
        ({"sources": "s3://x=./data"}, "sources must be a dict, and is of the type str", "{'s3://"),
        ({"environment": ["A=1"]}, "environment must be a dict, and is of the type list", "{'NAME'"),
        ({"channels": {"training": 3}}, "channels['training'] must be a path (str or os.PathLike), and is of the", "{"),
        (
            {"channels": {"training": None}},
            "channels['training'] must be a path (str or os.PathLike), and is None",
            "{",
        ),
        ({"channels": {3: "data"}}, "a key of channels must be a string, and is of the type int", "{"),
        ({"sources": {"s3://x": b"data"}}, "sources['s3://x'] must be a path (str or os.PathLike), and is of", "{"),
        ({"output": 5}, "output must be a path (str or os.PathLike), and is of the type int", "output='./out'"),
        ({"code": ["a"]}, "code must be a path (str or os.PathLike), and is of the type list", "code='./src'"),
        ({"hyperparameters": {"a": None}}, "['a'] must be a string, a number or a boolean, and is None", "{"),
        ({"hyperparameters": {"a": [1]}}, "['a'] must be a string, a number or a boolean, and is of the type", "{"),
        ({"publish": "no"}, "publish must be a boolean, and is of the type str", "publish=True"),
        ({"members": ["A=1"]}, "members must be a dict, and is of the type list", "members={"),
        ({"enforce_limits": 1}, "enforce_limits must be a boolean, and is of the type int", "enforce_limits=True"),
        ({"allow_cpu": 1}, "allow_cpu must be a boolean, and is of the type int", "allow_cpu=True"),
        ({"engines": "far"}, "engines must be a list, and is of the type str", "engines=['ssh://HOST', 'default']"),
        ({"engines": ["far", 1]}, "an item of engines must be a string, and is of the type int", "engines=["),
        ({"environment": {"A": 1}}, "environment['A'] must be a string, and is of the type int", "{"),
    ],
)
@pytest.mark.parametrize("call", [smlocal.run, smlocal.plan])
def test_a_value_of_the_wrong_type_is_refused(call: Any, keywords: dict[str, Any], says: str, example: str) -> None:
    with pytest.raises(KeywordInvalidError) as refused:
        call(image="any", **keywords)
    assert says in refused.value.sentence
    assert example.replace("'", '"') in refused.value.remedy[0]


@pytest.mark.parametrize("source", [3, ["job.yaml"], b"job.yaml", True])
@pytest.mark.parametrize("call", [smlocal.run, smlocal.plan])
def test_a_job_that_is_neither_a_path_nor_a_dict_is_refused(call: Any, source: Any) -> None:
    with pytest.raises(
        KeywordInvalidError, match=f"job must be a path .* or a dict, and is of the type {type(source).__name__}"
    ):
        call(source)


def test_what_is_accepted() -> None:
    check_keywords(
        {
            "channels": {"a": "data", "b": Path("data")},
            "hyperparameters": {"a": "1", "b": 1, "c": 0.5, "d": True, "e": float(Fraction(1, 2))},
            "environment": {},
            "engines": ("far", "near"),
            "output": Path("out"),
            "code": None,
        },
        others=RUN_SWITCHES,
    )


def test_what_to_do_about_a_name_in_use_has_the_keywords() -> None:
    remedy = " ".join(name_in_use("mine").remedy)
    for word in ("--name", "name=", "--replace", "replace=True"):
        assert word in remedy
