"""An endpoint of the image, with the programs in the examples."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN, Scenario, StopSeen
from smlocal.check.serving.interface import NOT_IN_SERVICE, EndpointSeen, Probe
from smlocal.check.subject import LaunchProfile, Subject

BASE = "FROM python:3.11-slim-bookworm\n"
COPIED = f"{BASE}COPY serve /usr/local/bin/serve\n"
TRAINS_TOO = f"{BASE}COPY train serve /usr/local/bin/\n"
TRAIN = ("train", "#!/bin/sh\necho 3 >/opt/ml/model/weights\n")


def server(
    *,
    ping: str = "self.answer(200)",
    invocations: str = "self.answer(200 if body.replace(b',', b'').strip().isdigit() else 415)",
    first: str = "signal.signal(signal.SIGTERM, lambda *_: os._exit(0))",
    serve: str = "ThreadingHTTPServer(('0.0.0.0', 8080), Handler).serve_forever()",
) -> tuple[tuple[str, str], ...]:
    """A file `serve` that keeps the contract, but for the parts that are given."""
    text = f"""#!/usr/local/bin/python
import os, signal, time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        {ping}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        {invocations}

{first}
{serve}
"""
    return (("serve", text),)


_SEE_THE_LOG = "See the end of its log. A server that needs a model gets one with --model or --train-and-serve."


def _no_listener(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen()
    if seen.is_reached or any(each.port == seen.port for each in seen.listeners or ()):
        return
    remedy = seen.model_remedy or (_SEE_THE_LOG if seen.ends else "")
    yield Finding(message=_why_nothing_listens(seen), job=seen.endpoint, details=seen.details, remedy=remedy)


def _why_nothing_listens(seen: EndpointSeen) -> str:
    if seen.ends:
        times = "" if seen.ends == 1 else f" {seen.ends} times"
        return (
            f"the container ended{times} before anything listened on port {seen.port}, with exit code {seen.exit_code}"
        )
    if not seen.is_started:
        return seen.explanation
    ports = sorted({each.port for each in seen.listeners or ()})
    others = f"; the container listens on port {', '.join(map(str, ports))}" if ports else ""
    return f"nothing listens on port {seen.port} within {seen.limit} s{others}"


NO_LISTENER = Rule(
    id="no-listener",
    severity=Severity.ERROR,
    title="Nothing listens on port 8080",
    why=(
        "A container that serves must have a web server on port 8080 that answers `GET /ping` and `POST /invocations`. "
        "The service waits 8 minutes for the first answer, then the endpoint is Failed. The check waits for --timeout."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Let `serve` start a web server on port 8080, in the foreground.",
    check=_no_listener,
    probes=frozenset({Probe.PING}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        bad_files=server(serve="HTTPServer(('0.0.0.0', 5000), Handler).serve_forever()"),
        good_files=server(),
        options=("--timeout", "5"),
        output="nothing listens on port 8080 within 5 s; the container listens on port 5000",
    ),
)


def _localhost_only(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen()
    if seen.is_reached:
        return
    if seen.listeners is None and seen.is_started:
        raise CannotLookError("the image has no cat, which shows where the container listens")
    ours = [each for each in seen.listeners or () if each.port == seen.port]
    if ours and all(each.loopback for each in ours):
        message = (
            f"port {seen.port} is bound to the loopback address of the container only, and nothing outside reaches it"
        )
        yield Finding(message=message, job=seen.endpoint)
    else:
        raise seen.not_judged()


LOCALHOST_ONLY = Rule(
    id="localhost-only",
    severity=Severity.ERROR,
    title="The server listens on 127.0.0.1 only",
    why=(
        "The service calls the container from outside. A server that is bound to 127.0.0.1 or ::1 answers only "
        "programs of its own container: no ping is answered, and the endpoint is Failed."
    ),
    mark=Mark.INFERRED,
    remedy="Bind the server to 0.0.0.0.",
    check=_localhost_only,
    probes=frozenset({Probe.PING}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        bad_files=server(serve="ThreadingHTTPServer(('127.0.0.1', 8080), Handler).serve_forever()"),
        good_files=server(),
        output="port 8080 is bound to the loopback address of the container only, and nothing outside reaches it",
    ),
)


def _ping_unhealthy(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen()
    # A container that has just ended answers nothing, and that is not the fault of its /ping.
    counted = [each for each in seen.pings if each.status or not seen.end_in_service]
    bad = next((each for each in counted if not each.is_healthy), None)
    if seen.in_service:
        if bad is not None:
            yield Finding(message=f"{bad.said}, while the endpoint was in service", job=seen.endpoint)
    elif not seen.is_reached:
        raise seen.not_judged()
    else:
        said = bad.said if bad is not None else seen.explanation
        yield Finding(
            message=f"{said}, and so for {seen.limit} s",
            job=seen.endpoint,
            details=seen.details,
            remedy=seen.model_remedy,
        )


PING_UNHEALTHY = Rule(
    id="ping-unhealthy",
    severity=Severity.ERROR,
    title="Pings are not answered with 200 within 2 seconds",
    why=(
        "The service sends `GET /ping` soon after the start and then again and again. Each must be answered with 200 "
        "within 2 seconds. If the first such answer is late, the endpoint fails. If they stop "
        "later, the container is replaced."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Answer /ping at once and without work, in a thread or worker of its own.",
    check=_ping_unhealthy,
    probes=frozenset({Probe.PING}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        bad_files=server(ping="self.answer(404)"),
        good_files=server(),
        options=("--timeout", "5"),
        output="/ping answered 404, and so for 5 s",
    ),
)


_SURVIVE = "Let the server catch the errors of a request, answer 400 or 500, and keep running."


def _rubbish_accepted(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    if seen.end_in_service:
        yield Finding(
            message=seen.end_in_service,
            job=seen.endpoint,
            severity=Severity.ERROR,
            details=seen.details,
            remedy=_SURVIVE,
        )
    for each in seen.rubbish:
        if each.status == 200:  # noqa: PLR2004 - HTTP
            yield Finding(message=f"/invocations answered {each.asked} with 200", job=seen.endpoint)
        elif each.status == 0 and not seen.end_in_service:
            message = f"/invocations did not answer {each.asked} completely: {each.text}"
            yield Finding(message=message, job=seen.endpoint, severity=Severity.ERROR, details=seen.details)


RUBBISH_ACCEPTED = Rule(
    id="rubbish-accepted",
    severity=Severity.WARNING,
    title="Invocations with rubbish are answered with 200",
    why=(
        "The caller learns of an error by the status alone: the service makes a ModelError of anything but 200. A "
        "server that answers 200 to a body that it cannot read hides the mistake in a wrong prediction, and a batch "
        "transform job completes with it. The check sends broken JSON, and bytes of an unknown type. A "
        "server that ends at a request, or gives no whole answer, is an error."
    ),
    mark=Mark.INFERRED,
    remedy="Answer 400 to a body that cannot be read, and 415 to a Content-Type that is not known.",
    check=_rubbish_accepted,
    probes=frozenset({Probe.RUBBISH}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        bad_files=server(invocations="self.answer(200)"),
        good_files=server(),
        output=(
            "/invocations answered 19 bytes (application/json) with 200\n"
            "/invocations answered 128 bytes (application/x-smlocal-rubbish) with 200"
        ),
    ),
)


def _one_request_at_a_time(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    if seen.end_in_service and not (seen.blocked is not None and seen.blocked.is_healthy):
        raise CannotLookError(seen.end_in_service)
    if not seen.end_in_service and not all(each.is_healthy for each in seen.pings):
        raise CannotLookError("pings are not answered even when nothing else is asked")
    if seen.blocked is not None and not seen.blocked.is_healthy:
        yield Finding(message=f"{seen.blocked.said}, while another request was being read", job=seen.endpoint)


ONE_REQUEST_AT_A_TIME = Rule(
    id="one-request-at-a-time",
    severity=Severity.WARNING,
    title="One request blocks all others, pings too",
    why=(
        "An invocation may take 60 seconds, and a ping must be answered within 2. A server with a single worker "
        "answers no ping during a long request: the service takes the container for unhealthy, and other requests "
        "wait. The check sends a ping while the server waits for the rest of another request. A proxy in front of a "
        "single worker hides this."
    ),
    mark=Mark.INFERRED,
    remedy="Use a server with several threads or workers, at least one more than requests that may be long.",
    check=_one_request_at_a_time,
    probes=frozenset({Probe.TOGETHER}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        bad_files=server(serve="HTTPServer(('0.0.0.0', 8080), Handler).serve_forever()"),
        good_files=server(),
        output="no answer to /ping within 2 s, while another request was being read",
    ),
)


def _connections_not_accepted(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    if seen.end_in_service and (seen.connections is None or seen.connections[0]):
        raise CannotLookError(seen.end_in_service)
    if seen.connections is None:
        raise CannotLookError("the engine accepts connections in place of the container")
    late, made = seen.connections
    if late:
        message = f"not all of {made} connections at once were accepted within 250 ms"
        yield Finding(message=f"{message}, while another request was being read", job=seen.endpoint)


CONNECTIONS_NOT_ACCEPTED = Rule(
    id="connections-not-accepted",
    severity=Severity.WARNING,
    title="Connections are not accepted within 250 ms",
    why=(
        "A container that serves must accept connections within 250 ms. If its queue of connections is full, the next "
        "one is accepted after a second at the earliest. The check opens five while the server waits for the rest of "
        "another request. The number is ours; how many the service opens at once is not known."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Accept connections in a thread of their own, or give `listen` a longer queue (`backlog`), such as 128.",
    check=_connections_not_accepted,
    probes=frozenset({Probe.CONNECT}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        bad_files=server(
            first="HTTPServer.request_queue_size = 0", serve="HTTPServer(('0.0.0.0', 8080), Handler).serve_forever()"
        ),
        good_files=server(),
        output="not all of 5 connections at once were accepted within 250 ms, while another request was being read",
    ),
)


_FOLDER = "/opt/ml/model"
_SHOWN = 3


def _model_folder_written(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    if seen.written is None:
        raise CannotLookError("no model is served", test="give one with --model or --train-and-serve")
    if seen.written:
        paths = [_FOLDER if path == "." else f"{_FOLDER}/{path}" for path in seen.written]
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        message = f"the container changes {', '.join(paths[:_SHOWN])}{more}"
        yield Finding(message=message, path=paths[0], job=seen.endpoint)


MODEL_FOLDER_WRITTEN = Rule(
    id="model-folder-written",
    severity=Severity.WARNING,
    title="The server writes to /opt/ml/model",
    why=(
        "With a model, the folder was seen to be read-only on the service: a server that writes to it, such as a cache "
        "of a library or a download, gets `Read-only file system` there. Files that Python compiles are not counted."
    ),
    mark=Mark.SEEN,
    remedy="Write to /tmp; point caches there, for example with HF_HOME.",
    check=_model_folder_written,
    probes=frozenset({Probe.MODEL}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=TRAINS_TOO,
        bad_files=(TRAIN, *server(first="open('/opt/ml/model/cache', 'w').close()")),
        good_files=(TRAIN, *server()),
        options=("--train-and-serve",),
        output="the container changes /opt/ml/model/cache",
    ),
)


_SERVICE_SECONDS = 30


def _server_ignores_sigterm(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    if seen.stop is None:
        raise CannotLookError(
            seen.end_in_service or "the container ended before SIGTERM was sent, or the engine cannot list processes"
        )
    if seen.killed:
        yield Finding(message=_how_it_was_killed(seen.stop, seen.grace), job=seen.endpoint)


def _how_it_was_killed(stop: StopSeen, grace: int) -> str:
    first = f"{stop.first.name}, the first process,"
    if not stop.first.handles_sigterm:
        names = ", ".join(dict.fromkeys(each.name for each in stop.others))
        passed = f" and does not pass it on to {names}" if names else ""
        return f"{first} has no handler for SIGTERM{passed}, and would be killed after {_SERVICE_SECONDS} s"
    return f"{first} has a handler for SIGTERM, and had not ended {grace} s later"


SERVER_IGNORES_SIGTERM = Rule(
    id="server-ignores-sigterm",
    severity=Severity.WARNING,
    title="The server does not end within 30 seconds of SIGTERM",
    why=(
        "When an endpoint is updated, made smaller or deleted, the service sends SIGTERM to the first process of the "
        "container, and SIGKILL 30 seconds later. Requests that are being answered then are lost. The kernel does "
        "nothing with a SIGTERM for which the first process has no handler."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Start the server with exec, and let it finish its requests and exit when it gets SIGTERM.",
    check=_server_ignores_sigterm,
    probes=frozenset({Probe.STOP}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        bad_files=server(first=""),
        good_files=server(),
        output="serve, the first process, has no handler for SIGTERM, and would be killed after 30 s",
    ),
)


def _jobs_that_train(_subject: Subject) -> Iterable[Scenario]:
    return (PLAIN,)


def _trained_model_fails(subject: Subject) -> Iterator[Finding]:
    endpoint = subject.endpoint
    if not endpoint.trained:
        raise CannotLookError("the job leaves no model", test="write one to /opt/ml/model")
    seen = endpoint.seen()
    if not seen.in_service:
        why = f"the container ended with exit code {seen.exit_code}" if seen.ends else seen.explanation
        yield Finding(message=f"{NOT_IN_SERVICE} with the model: {why}", job=seen.endpoint, details=seen.details)
    elif seen.answer is not None and seen.answer.status != 200:  # noqa: PLR2004 - HTTP
        if endpoint.body_is_guessed and not seen.answer.is_of_the_server:
            raise CannotLookError(
                f"the server refuses {seen.answer.asked}: {seen.answer.status}", test="give a request with --body"
            )
        answered = f"answered {seen.answer.status}" if seen.answer.status else "did not answer completely"
        said = f": {seen.answer.text}" if seen.answer.text else ""
        yield Finding(
            message=f"asked {seen.answer.asked} of its own model, the image {answered}{said}",
            job=seen.endpoint,
            details=seen.details,
        )


TRAINED_MODEL_FAILS = Rule(
    id="trained-model-fails",
    severity=Severity.ERROR,
    title="The image cannot serve the model that it has trained",
    why=(
        "The service unpacks model.tar.gz, which holds the files that training has left in `/opt/ml/model`, into that "
        "folder of the container that serves. A server that looks for other names, or was made for other versions of "
        "a library, fails only there. The check trains on little data, serves what is left, and asks once: with --body "
        "and --content-type, else with a line of numbers as text/csv, for which only errors of the server (5xx) count."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Load the model in `serve` from the files that `train` writes, with the same libraries.",
    check=_trained_model_fails,
    jobs=_jobs_that_train,
    probes=frozenset({Probe.ASK}),
    profiles=frozenset({LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=TRAINS_TOO,
        bad_files=(TRAIN, *server(first="int(open('/opt/ml/model/model.txt').read())")),
        good_files=(TRAIN, *server(first="int(open('/opt/ml/model/weights').read())")),
        output="the endpoint does not get into service with the model: the container ended with exit code 1",
    ),
)


RULES = (
    NO_LISTENER,
    LOCALHOST_ONLY,
    PING_UNHEALTHY,
    RUBBISH_ACCEPTED,
    ONE_REQUEST_AT_A_TIME,
    CONNECTIONS_NOT_ACCEPTED,
    MODEL_FOLDER_WRITTEN,
    SERVER_IGNORES_SIGTERM,
    TRAINED_MODEL_FAILS,
)
