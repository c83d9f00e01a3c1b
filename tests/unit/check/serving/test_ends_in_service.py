"""A container that ended by itself while it was in service: which question that was, and which rules say so."""

from typing import Any

import pytest

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.rules.serving import (
    CONNECTIONS_NOT_ACCEPTED,
    ONE_REQUEST_AT_A_TIME,
    PING_UNHEALTHY,
    RUBBISH_ACCEPTED,
)
from smlocal.check.serving.interface import AnswerSeen, EndpointSeen, PingSeen
from smlocal.check.subject import Subject
from smlocal.engine.facts import ImageFacts

GOOD, GONE, BAD = PingSeen(200, 0.1, ""), PingSeen(0, 0.1, "nothing listens on port 8080"), PingSeen(500, 0.1, "")
REFUSED, SILENT = AnswerSeen("2 bytes (a/b)", 415, "no"), AnswerSeen("9 bytes (a/b)", 0, "closed")
ENDED = "the container ended, with exit code 3,"


class Trial:
    """What an endpoint has shown."""

    trained = ""
    body_is_guessed = True

    def __init__(self, **seen: Any) -> None:
        self.given = seen

    def seen(self) -> EndpointSeen:
        usual: dict[str, Any] = {"pings": (GOOD,) * 5, "ends": 1, "exit_code": 3, "blocked": GOOD, "log": ()}
        fixed: dict[str, Any] = {"endpoint": "serve", "in_service": True, "explanation": "", "limit": 5, "port": 8080}
        return EndpointSeen(**fixed, listeners=None, reached=True, grace=1, **{**usual, **self.given})


def said(rule: Any, **seen: Any) -> list[str]:
    facts = ImageFacts(
        id="sha256:0",
        architecture="amd64",
        operating_system="linux",
        size=1,
        entrypoint=None,
        command=None,
        user="",
        working_directory="",
    )
    return [finding.message for finding in rule.check(Subject(image="i", facts=facts, served=Trial(**seen)))]


@pytest.mark.parametrize(
    ("seen", "how"),
    [
        ({"rubbish": (REFUSED, SILENT)}, f"{ENDED} when /invocations got 9 bytes (a/b)"),
        ({"rubbish": (SILENT,), "pings": (GOOD,) * 4 + (GONE,)}, f"{ENDED} at a request that was broken off"),
        ({"answer": SILENT, "rubbish": (REFUSED,)}, f"{ENDED} when /invocations got 9 bytes (a/b)"),
        ({"rubbish": (SILENT,), "pings": (GOOD, GONE, GOOD)}, f"{ENDED} while it was in service"),
        ({"blocked": None}, f"{ENDED} while it was in service"),
    ],
)
def test_one_rule_says_it_and_how(seen: dict[str, Any], how: str) -> None:
    assert said(RUBBISH_ACCEPTED, **seen) == [how]
    assert said(PING_UNHEALTHY, **seen) == []


def test_what_is_not_due_to_the_end_is_still_found() -> None:
    assert said(PING_UNHEALTHY, pings=(GOOD, BAD, GONE)) == ["/ping answered 500, while the endpoint was in service"]
    gone = "nothing listens on port 8080, while the endpoint was in service"
    assert said(PING_UNHEALTHY, pings=(GOOD, GONE), ends=0) == [gone]
    text = "/invocations did not answer 9 bytes (a/b) completely: closed"
    assert said(RUBBISH_ACCEPTED, rubbish=(SILENT,), ends=0) == [text]


@pytest.mark.parametrize(
    ("rule", "seen"),
    [
        (ONE_REQUEST_AT_A_TIME, {"blocked": GONE}),
        (CONNECTIONS_NOT_ACCEPTED, {"connections": None}),
        (CONNECTIONS_NOT_ACCEPTED, {"connections": (5, 5)}),
    ],
)
def test_other_rules_are_skipped_for_it(rule: Any, seen: dict[str, Any]) -> None:
    with pytest.raises(CannotLookError, match="the container ended, with exit code 3"):
        said(rule, **seen)
