"""Requests that no client sends, to a server in a process of its own: no 500, no traceback, and bounded memory.

SMLOCAL_FUZZED_REQUESTS says how many; with more than the usual number some have megabytes. The
slowest one is in the file of results.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.endpoint.request_fuzz import RequestFuzz
from tests.unit.endpoint.served_endpoint import request, serve

_USUAL = 250
_COUNT = int(os.environ.get("SMLOCAL_FUZZED_REQUESTS", _USUAL))
_SEED = int(os.environ.get("SMLOCAL_FUZZ_SEED", "1"))
_MOST_MIB = 500


@pytest.mark.slow
@pytest.mark.linux("the memory of a process in /proc")
def test_every_request_is_answered(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    wrong: list[str] = []
    slowest = (0.0, "")
    statuses: Counter[int] = Counter()
    with serve(tmp_path) as server:
        form = server.send(request("GET", b"/-/new", [(b"Host", b"localhost")]), method="GET")
        token = re.search(rb'name="token" value="([^"]+)"', b"" if form is None else form.body)
        assert token is not None
        fuzz = RequestFuzz(_SEED, large=0.03 if _COUNT > _USUAL else 0.0, token=token[1].decode())
        for number in range(_COUNT):
            method, raw = fuzz.next()
            began = time.monotonic()
            answer = server.send(raw, method=method)
            took = time.monotonic() - began
            status = 0 if answer is None else answer.status
            statuses[status] += 1
            what = f"{number}: {status} after {took:.1f} s, {len(raw)} bytes: {raw[:300]!r}"
            slowest = max(slowest, (took, what))
            if status >= 500 and status != 501:
                wrong.append(what)
        record_property("slowest", slowest[1])
        said = server.said()
        assert not wrong, "\n".join(wrong) + said
        assert "Traceback" not in said, said
        assert server.peak_mib() < _MOST_MIB
    assert statuses[200] > _COUNT // 20, statuses
    assert statuses[400] > _COUNT // 20, statuses
