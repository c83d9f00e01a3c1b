"""A hostile page in Chromium: what a bucket has is never run in the origin of smlocal's page."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from tests.doors.server.page.chromium import Browser, Tab, program, running_browser
from tests.unit.sagemaker.hosting.fronts import PATH, front

__all__ = ["front"]
CREDENTIAL = {"X-Amz-Credential": "made-up/20260101/us-east-1/s3/aws4_request", "X-Amz-Signature": "0"}
REQUEST = {
    "TrainingJobName": "of-a-stranger",
    "AlgorithmSpecification": {"TrainingImage": "no-such-image", "TrainingInputMode": "File"},
    "RoleArn": "arn:aws:iam::000000000000:role/any",
    "OutputDataConfig": {"S3OutputPath": "s3://data/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 10},
}
SCRIPT = """
(async () => {
  document.title = "ran";
  const page = await (await fetch("/-/new")).text();
  const token = /name="token" value="([^"]+)"/.exec(page)[1];
  const form = new URLSearchParams({token, document: JSON.stringify(REQUEST)});
  await fetch("/-/new", {method: "POST", body: form});
  document.title = "done";
})();
""".replace("REQUEST", json.dumps(REQUEST))
XHTML = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>shown<script><![CDATA[{SCRIPT}]]></script></body></html>'
OBJECTS = {
    "text/html": f"<body>shown<script>{SCRIPT}</script></body>",
    "application/xhtml+xml": XHTML,
    "text/xml": XHTML,
    "image/svg+xml": (
        f'<svg xmlns="http://www.w3.org/2000/svg"><text y="20">shown</text><script><![CDATA[{SCRIPT}]]></script></svg>'
    ),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if program() is None:
        pytest.skip("no Chromium here: apt-get install --no-install-recommends chromium")
    with running_browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    made = browser.tab()
    yield made
    made.close()


@pytest.fixture
def hostile_page() -> Iterator[Callable[..., str]]:
    """Makes the page of another site; returns its address. For a browser, localhost is another site than 127.0.0.1."""
    body = ""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    def make(content: str, *, host: str = "localhost") -> str:
        nonlocal body
        body = content
        return f"http://{host}:{server.server_port}/"

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield make
        server.shutdown()


def put(endpoint: Any, key: str, body: str, kind: str) -> str:
    """Put an object; returns its address with a credential that somebody has made up."""
    s3 = endpoint.client("s3")
    if not s3.list_buckets()["Buckets"]:
        s3.create_bucket(Bucket="data")
    s3.put_object(Bucket="data", Key=key, Body=body.encode(), ContentType=kind)
    return f"{endpoint.address}/data/{key}?{urlencode(CREDENTIAL)}"


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("stated", ["by the object", "by the request"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_an_object_behind_a_link_on_another_site_is_shown_and_not_run(
    endpoint: Any, tab: Tab, hostile_page: Callable[..., str], kind: str, stated: str, host: str
) -> None:
    own = kind if stated == "by the object" else "binary/octet-stream"
    address = put(endpoint, "object", OBJECTS[kind], own)
    if stated == "by the request":
        address += f"&{urlencode({'response-content-type': kind})}"
    tab.go(hostile_page(f"<a id=link href='{address}'>look</a>", host=host))
    tab.click("#link")
    tab.wait("location.pathname == '/data/object' && document.readyState == 'complete'")
    tab.wait("document.documentElement.textContent.includes('shown')")
    assert tab.value("self.origin") == "null"
    assert any("sandboxed" in each or "script" in each.lower() for each in tab.complaints), tab.complaints
    assert tab.value("document.title") not in {"ran", "done"}
    assert endpoint.store.names() == []


@pytest.mark.slow(1)
def test_an_object_is_no_script_style_or_frame_of_any_page(
    endpoint: Any, tab: Tab, hostile_page: Callable[..., str]
) -> None:
    script = put(endpoint, "script", "self.ran = 1", "text/javascript")
    style = put(endpoint, "style", "body { color: rgb(1, 2, 3) }", "text/css")
    frame = put(endpoint, "frame", OBJECTS["text/html"], "text/html")
    image = put(endpoint, "image", OBJECTS["image/svg+xml"], "image/svg+xml")
    load = f"""
    new Promise(done => {{
      let left = 3;
      const add = (name, about) => {{
        const made = Object.assign(document.createElement(name), about);
        made.onload = () => {{ self.loaded = (self.loaded ?? '') + name; --left || done('loaded'); }};
        made.onerror = () => --left || done(self.loaded ?? 'nothing');
        document.body.append(made);
      }};
      add('script', {{src: {json.dumps(script)}}});
      add('link', {{rel: 'stylesheet', href: {json.dumps(style)}}});
      add('img', {{src: {json.dumps(image)}}});
    }})"""
    for address in (endpoint.address, hostile_page("<body>", host="127.0.0.1"), hostile_page("<body>")):
        tab.go(address)
        assert tab.value(load) == "nothing"
        assert tab.value("self.ran") is None
    tab.go(hostile_page(f"<iframe src='{frame}'></iframe><object data='{frame}'></object><embed src='{frame}'>"))
    assert endpoint.store.names() == []


@pytest.mark.slow(1)
def test_a_hostile_page_sends_nothing_that_is_done(endpoint: Any, tab: Tab, hostile_page: Callable[..., str]) -> None:
    put(endpoint, "kept", "1", "text/plain")
    query = urlencode(CREDENTIAL)
    delete = "<Delete><Object><Key>kept</Key></Object></Delete>"
    for host in ("localhost", "127.0.0.1"):
        tab.go(hostile_page("<body>", host=host))
        for path, method, body, mode in (
            (f"/data?delete&{query}", "POST", delete, "no-cors"),
            (f"/data/kept?{query}", "DELETE", None, "cors"),
            (f"/data/new?{query}", "PUT", "1", "cors"),
            (f"/new?{query}", "PUT", "", "cors"),
            (f"/data/kept?{query}", "GET", None, "cors"),
            (f"/data/kept?{query}", "GET", None, "no-cors"),
            ("/", "POST", json.dumps(REQUEST), "no-cors"),
            ("/-/new", "GET", None, "cors"),
        ):
            asked = {"method": method, "mode": mode, **({} if body is None else {"body": body})}
            ask = f"fetch({json.dumps(endpoint.address + path)}, {json.dumps(asked)})"
            assert tab.value(f"{ask}.then(a => a.type + a.status, () => 'error')") in {"error", "opaque0"}
        form = f"<form id=form method=post enctype=text/plain action='{endpoint.address}/data?delete&{query}'>"
        tab.go(
            hostile_page(f"{form}<input name='<Delete><Object><Key>kept</Key></Object></Delete>'></form>", host=host)
        )
        tab.value("document.getElementById('form').submit()")
        tab.wait("location.pathname == '/data' && document.readyState == 'complete'")
        tab.sees("does not answer pages of other sites")
    assert [each["Key"] for each in endpoint.client("s3").list_objects_v2(Bucket="data")["Contents"]] == ["kept"]
    assert [each["Name"] for each in endpoint.client("s3").list_buckets()["Buckets"]] == ["data"]
    assert endpoint.store.names() == []


@pytest.mark.slow(1)
def test_a_hostile_page_invokes_no_endpoint(
    front: Callable[..., Any], tab: Tab, hostile_page: Callable[..., str]
) -> None:
    """Its own address is an origin for a browser, too: what a container answers is never run in it."""
    answered = f"<body>shown<script>{SCRIPT}</script></body>"
    one, server = front(lambda container: container.answer(answered.encode(), Content_Type="text/html"))
    address = one.address + PATH
    for host in ("localhost", "127.0.0.1"):
        tab.go(hostile_page("<body>", host=host))
        for mode in ("no-cors", "cors"):
            asked = {"method": "POST", "mode": mode, "body": "1,2"}
            ask = f"fetch({json.dumps(address)}, {json.dumps(asked)})"
            assert tab.value(f"{ask}.then(a => a.type + a.status, () => 'error')") in {"error", "opaque0"}
        form = f"<form id=form method=post enctype=text/plain action='{address}'><input name=1></form>"
        tab.go(hostile_page(form, host=host))
        tab.value("document.getElementById('form').submit()")
        tab.wait("location.pathname.endsWith('/invocations') && document.readyState == 'complete'")
        tab.sees("does not answer pages of other sites")
    assert server.seen == []


def test_a_presigned_link_is_downloaded(endpoint: Any, tab: Tab, browser: Browser, tmp_path: Path) -> None:
    put(endpoint, "table", "<b>1,2</b>", "text/html")
    link = endpoint.client("s3", signature_version="s3v4").generate_presigned_url(
        "get_object",
        Params={"Bucket": "data", "Key": "table", "ResponseContentDisposition": 'attachment; filename="t.csv"'},
    )
    (folder := tmp_path / "downloads").mkdir()
    context = browser.call("Target.getTargetInfo", targetId=tab.target)["targetInfo"]["browserContextId"]
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), browserContextId=context)
    tab.go(endpoint.address)
    assert urlsplit(link).netloc == urlsplit(endpoint.address).netloc
    tab.value(f"location.href = {json.dumps(link)}; null")
    for _ in range(1000):
        if (folder / "t.csv").exists():
            break
        tab.value("new Promise(done => setTimeout(done, 20)).then(() => null)")
    assert (folder / "t.csv").read_text() == "<b>1,2</b>"
