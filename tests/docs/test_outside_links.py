"""The script that asks addresses outside of the site, with a server of this machine."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from lib.outside_links import addresses, problem


class _Answers(BaseHTTPRequestHandler):
    """The status that the path names."""

    def do_GET(self) -> None:
        self.send_response(int(self.path.removeprefix("/")))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the library calls it
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as serving:
        thread = Thread(target=serving.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{serving.server_address[1]}"
        finally:
            serving.shutdown()
            thread.join()


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(("status", "said"), [(200, ""), (403, ""), (429, ""), (404, "HTTP 404"), (410, "HTTP 410")])
def test_only_what_is_gone_is_a_problem(server: str, status: int, said: str) -> None:
    assert problem(f"{server}/{status}") == said


def test_addresses_of_pages_and_of_facts_and_none_of_this_machine() -> None:
    found = addresses()
    assert "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html" in found
    assert "https://keepachangelog.com/en/1.1.0/" in found
    assert not [each for each in found if "#" in each or "127.0.0.1" in each or "smlocal" in each]
