"""The rules about the port of a container that serves, which is another one beside other containers."""

from typing import Any

import pytest

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.rules.serving import LOCALHOST_ONLY, NO_LISTENER
from smlocal.check.serving.interface import EndpointSeen, ListenAddress
from smlocal.check.subject import Subject
from smlocal.engine.facts import ImageFacts


class Trial:
    """An endpoint that did not get into service."""

    trained = ""
    body_is_guessed = True

    def __init__(self, *listeners: ListenAddress, port: int) -> None:
        self.listeners, self.port = listeners, port

    def seen(self) -> EndpointSeen:
        return EndpointSeen(
            endpoint="serve",
            in_service=False,
            explanation="late",
            limit=5,
            port=self.port,
            listeners=self.listeners,
            reached=False,
            ends=0,
            exit_code=None,
            pings=(),
            grace=1,
            log=(),
        )


def said(rule: Any, *listeners: ListenAddress, port: int) -> list[str]:
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
    subject = Subject(image="i", facts=facts, served=Trial(*listeners, port=port))
    return [finding.message for finding in rule.check(subject)]


@pytest.mark.parametrize("port", [8080, 8180])
def test_the_port_is_that_of_the_container(port: int) -> None:
    hidden, open_, other = ListenAddress(True, port), ListenAddress(False, port), ListenAddress(False, 8090)
    assert said(NO_LISTENER, hidden, port=port) == said(NO_LISTENER, open_, port=port) == []
    expected = f"nothing listens on port {port} within 5 s; the container listens on port 8090"
    assert said(NO_LISTENER, other, port=port) == [expected]
    assert said(LOCALHOST_ONLY, open_, port=port) == []
    (finding,) = said(LOCALHOST_ONLY, hidden, other, port=port)
    assert finding.startswith(f"port {port} is bound to the loopback address")
    with pytest.raises(CannotLookError):
        said(LOCALHOST_ONLY, other, port=port)
