"""The pages as they are without JavaScript."""

import io
import os
import re
import tarfile
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from smlocal.jobs.documents import STEP_OF, TUNED_BY
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED, FAILED

HOSTILE = "</pre></script><script>alert(1)</script>\x1b[31mred"


@pytest.mark.slow(1)
def test_a_job_is_listed_and_its_page_has_its_log_and_its_model(
    browserless: Any, run_job: Callable[..., None], endpoint: Any
) -> None:
    run_job("page-tree", "echo line one; printf '%s\\n' '" + HOSTILE + "'; echo forest > /opt/ml/model/tree")

    listed = browserless.get("/")
    assert listed.status == 200
    assert '<a href="/-/jobs/page-tree">page-tree</a>' in listed.text
    assert "Completed" in listed.text

    page = browserless.get("/-/jobs/page-tree")
    assert page.status == 200
    assert "line one\n&lt;/pre&gt;&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;#033[31mred" in page.text
    assert "alert(1)</script>" not in page.text
    assert "Stop this training job" not in page.text

    log = browserless.get("/-/jobs/page-tree/logs/algo-1")
    assert log.headers["content-type"] == "text/plain; charset=utf-8"
    assert log.text == "line one\n</pre></script><script>alert(1)</script>#033[31mred\n"
    assert "sandbox" in log.headers["content-security-policy"]

    assert 'href="/-/jobs/page-tree/artifacts/model"' in page.text
    path = endpoint.store.document("page-tree", "local")["Artifacts"]["Model"]
    model = _download(browserless.address, "/-/jobs/page-tree/artifacts/model")
    assert model == Path(path).read_bytes()
    with tarfile.open(fileobj=io.BytesIO(model)) as archive:
        assert archive.getnames() == ["tree"]


def test_nothing_else_can_be_downloaded(browserless: Any, run_job: Callable[..., None], endpoint: Any) -> None:
    secret = Path(endpoint.store.home) / "secret"
    secret.write_text("secret")
    run_job(
        "page-folder",
        f"mkdir /opt/ml/model/a; echo kept > /opt/ml/model/a/b; ln -s {secret} /opt/ml/model/link;"
        f" ln -s {secret.parent} /opt/ml/model/up",
        OutputDataConfig={"S3OutputPath": "s3://some-bucket/out", "CompressionType": "NONE"},
    )
    artifacts = "/-/jobs/page-folder/artifacts"
    assert browserless.get(f"{artifacts}/model/a/b").text == "kept\n"
    assert f'href="{artifacts}/model/a/b"' in browserless.get("/-/jobs/page-folder").text
    for path in (
        "model",
        "model/",
        "model/link",
        "model/up/secret",
        "model/../../../secret",
        "model/..%2f..%2f..%2fsecret",
        f"model/%2f{secret}",
        "model/a",
        "model/a/b/",
        "model/a%00",
        "output/a/b",
        "secret",
    ):
        assert browserless.get(f"{artifacts}/{path}").status == 404, path
    for path in ("logs/..%2f..%2fsecret", "logs/algo-2", "logs/algo-1.times"):
        assert browserless.get(f"/-/jobs/page-folder/{path}").status == 404, path
    assert browserless.get("/-/jobs/no-such-job").status == 404
    assert browserless.get("/-/jobs/..%2fhome").status == 404


def test_the_list_is_filtered_and_paged(browserless: Any, endpoint: Any) -> None:
    for number in range(60):
        record(endpoint.store, f"job-{number:02}", failed=number == 7)

    first = browserless.get("/")
    assert names(first.text) == [f"job-{number:02}" for number in range(59, 9, -1)]
    older = unescape(re.findall(r'href="([^"]+)" rel="next"', first.text)[0])
    assert names(browserless.get(older).text) == [f"job-{number:02}" for number in range(9, -1, -1)]
    assert names(browserless.get("/?name=b-3&status=Completed").text) == [
        f"job-{number}" for number in range(39, 29, -1)
    ]
    failed = browserless.get("/?status=Failed").text
    assert names(failed) == ["job-07"]
    assert "AlgorithmError: it broke &lt;b&gt;" in failed
    assert "No job is as asked" in browserless.get("/?name=%3Cscript%3E").text
    assert browserless.get("/?status=no-such&after=").status == 200
    assert browserless.get("/?after=bad").status == 400


def test_the_list_names_kinds_searches_and_executions(browserless: Any, endpoint: Any) -> None:
    record(endpoint.store, "search-01-001-ab-01")
    record(endpoint.store, "rows-02", platform="sagemaker_processing")
    endpoint.store.put_document("search-01-001-ab-01", TUNED_BY, {"Arn": "arn:aws:x:tuning-job/search-01"})
    both = browserless.get("/").text
    assert names(both) == ["rows-02", "search-01-001-ab-01"]
    assert both.count('<span class="of">') == 1
    for text in ("<h1>Jobs</h1>", "<td>training job</td>", "<td>processing job</td>", "of search-01</span>"):
        assert text in both
    by = {"Arn": "arn:aws:x:pipeline/p/execution/abc", "Name": "p-abc", "Run": "0" * 8, "Step": "Prepare"}
    endpoint.store.put_document("rows-02", STEP_OF, by)
    assert "of p-abc</span>" in browserless.get("/").text
    assert names(browserless.get("/?kind=processing+job").text) == ["rows-02"]
    assert names(browserless.get("/?kind=training+job&name=search").text) == ["search-01-001-ab-01"]
    assert "No job is as asked" in browserless.get("/?kind=endpoint").text
    assert len(names(browserless.get("/?kind=no-such").text)) == 2


def test_a_waiting_job_has_a_page(endpoint: Any, browserless: Any, script_job: Callable[..., dict[str, Any]]) -> None:
    client = endpoint.client("sagemaker")
    client.create_training_job(**script_job("page-waits", "sleep 600"))
    page = browserless.get("/-/jobs/page-waits")
    assert page.status == 200
    assert "Stop this training job" in page.text
    client.stop_training_job(TrainingJobName="page-waits")


def test_every_answer_forbids_what_the_page_does_not_need(browserless: Any) -> None:
    for path, status in (("/", 200), ("/-/new", 200), ("/-/style.css", 200), ("/-/page.js", 200), ("/-/none", 404)):
        answer = browserless.get(path)
        assert answer.status == status
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self';")
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"<script(?! src=\"/-/page.js\" defer>)|<style| style=| on[a-z]+=", answer.text)
        assert "http://" not in answer.text.replace("http://www.w3.org/", "")
    assert browserless.get("/-/new", method="HEAD").text == ""
    assert browserless.get("/-/new", method="DELETE").status == 405


def _download(address: str, path: str) -> bytes:
    from urllib.request import urlopen

    with urlopen(address + path, timeout=200) as answer:
        assert answer.headers["content-disposition"].startswith("attachment")
        data: bytes = answer.read()
        return data


def names(page: str) -> list[str]:
    return re.findall(r'<a href="/-/jobs/[^"]+">([^<]+)</a>', page)


def record(store: Store, name: str, *, failed: bool = False, platform: str = "sagemaker") -> None:
    """A job that has ended, as the store remembers it."""
    store.create(
        name,
        run_id="0" * 8,
        created=1_790_000_000.0 + int(name[-2:]),
        documents={"request": {}, "plan": {}},
        supervisor_pid=os.getpid(),
        arn=f"arn:aws:sagemaker:us-east-1:000000000000:training-job/{name}",
        model_uri="file:///out/model.tar.gz",
        instances=1,
        platform=platform,
    ).release()
    ending = FAILED if failed else COMPLETED
    store.transition(
        name,
        status=ending.status,
        phase=ending.phase,
        message=ending.message,
        at=1_790_000_100.0,
        failure_reason="AlgorithmError: it broke <b>\nat once" if failed else None,
    )
