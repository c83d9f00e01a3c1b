"""Headless Chromium, driven by its DevTools protocol over two pipes: no port, and no package beside the browser."""

import base64
import fcntl
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Self

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--remote-debugging-pipe", "--no-first-run", "--disable-background-networking", "--disable-extensions"),
)
_SECONDS = 150.0
_LEFT = ("Inspected target navigated or closed", "Cannot find default execution context")
_KEYS = {"Tab": 9, "Enter": 13, "PageUp": 33, "End": 35, "Home": 36}


def program() -> str | None:
    """The browser of this machine."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


class LeftPageError(AssertionError):
    """The page that was asked is being left for another one."""


@dataclass(kw_only=True)
class Tab:
    """One page, and everything that it has asked for or complained about."""

    browser: "Browser"
    session: str
    target: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    """Errors of scripts, of the console, and of the Content-Security-Policy."""

    def call(self, method: str, **parameters: Any) -> Any:
        return self.browser.call(method, session=self.session, **parameters)

    def go(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.wait(f"document.readyState == 'complete' && location.href.startsWith({json.dumps(address)})")

    def value(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str, *, seconds: float = _SECONDS) -> Any:
        """Wait until an expression is true, and return its value. The page may become another one meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(LeftPageError):
                answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
                if answer.get("result", {}).get("value"):
                    return answer["result"]["value"]
            time.sleep(0.05)
        raise AssertionError(f"never: {expression}\n{self.text()}\n{self.complaints}")

    def text(self, selector: str = "body") -> str:
        return str(self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def sees(self, text: str, selector: str = "body", *, seconds: float = _SECONDS) -> None:
        """Wait until this text is visible."""
        where = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"({where}?.innerText ?? '').includes({json.dumps(text)})", seconds=seconds)

    def click(self, selector: str) -> None:
        """Click where it is, as a person does."""
        self.value(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.value(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def press(self, key: str) -> None:
        code = _KEYS[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def look(self, *, width: int = 1100, height: int = 900, dark: bool = False, scripts: bool = True) -> Self:
        """Show it at this width, light or dark, with or without JavaScript."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        return self

    def picture(self, path: Path, *, whole: bool = False) -> None:
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        self.browser.call("Target.closeTarget", targetId=self.target)


_COUNT = """
(async (urls) => {
  const [first, second] = await Promise.all(urls.map(async (url) => {
    const picture = new Image();
    picture.src = url;
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const drawn = canvas.getContext("2d");
    drawn.drawImage(picture, 0, 0);
    return drawn.getImageData(0, 0, picture.width, picture.height);
  }));
  const {width, height} = first;
  if (width !== second.width || height !== second.height) return width * height;
  const near = (other, x, y, at, of) => {
    for (let j = Math.max(0, y - 1); j <= Math.min(height - 1, y + 1); j++)
      for (let i = Math.max(0, x - 1); i <= Math.min(width - 1, x + 1); i++) {
        const to = 4 * (j * width + i);
        if ([0, 1, 2].every((part) => Math.abs(of.data[at + part] - other.data[to + part]) <= 96)) return true;
      }
    return false;
  };
  let count = 0;
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = 4 * (y * width + x);
      if (!near(second, x, y, at, first) || !near(first, x, y, at, second)) count++;
    }
  return count;
})
"""


def differing_pixels(tab: Tab, first: bytes, second: bytes) -> int:
    """How many pixels of two PNGs have in the other one none like them, there or beside it.

    So a line that is smoothed in another way, or is half a pixel away, is the same.
    """
    urls = [f"data:image/png;base64,{base64.b64encode(each).decode()}" for each in (first, second)]
    return int(tab.value(f"({_COUNT})({json.dumps(urls)})"))


class Browser:
    """A running browser."""

    def __init__(self, to: int, back: int) -> None:
        self._to = to
        self._back = back
        self._number = 0
        self._answers: dict[int, Queue[Any]] = {}
        self._tabs: dict[str, Tab] = {}
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def tab(self) -> Tab:
        """A new empty page, with no cookies of others."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = self._tabs[session] = Tab(browser=self, session=session, target=target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        return tab.look()

    def call(self, method: str, *, session: str | None = None, **parameters: Any) -> Any:
        self._number += 1
        number = self._number
        self._answers[number] = Queue()
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        try:
            answer = self._answers[number].get(timeout=_SECONDS)
        except Empty:
            raise AssertionError(f"the browser has not answered {method}") from None
        finally:
            del self._answers[number]
        if "error" in answer:
            why = str(answer["error"]["message"])
            left = any(each in why for each in _LEFT)
            raise (LeftPageError if left else AssertionError)(f"{method}: {why}")
        return answer["result"]

    def _read(self) -> None:
        rest = b""
        while data := os.read(self._back, 1 << 20):
            *messages, rest = (rest + data).split(b"\0")
            for each in messages:
                self._take(json.loads(each))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            answers = self._answers.get(message["id"])
            if answers is not None:
                answers.put(message)
            return
        tab, about = self._tabs.get(message.get("sessionId", "")), message["params"]
        if tab is None:
            return
        match message["method"]:
            case "Network.requestWillBeSent":
                tab.requests.append(about["request"]["url"])
            case "Runtime.exceptionThrown":
                tab.complaints.append(json.dumps(about["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                tab.complaints.append(json.dumps(about["args"]))
            case "Log.entryAdded":
                tab.complaints.append(about["entry"]["text"])


@contextmanager
def running_browser(profile: Path) -> Iterator[Browser]:
    """Start it, and end it with everything it has started."""
    pipes = [*os.pipe(), *os.pipe()]
    # The browser wants its ends as descriptors 3 and 4, so neither of them may be one of those.
    there, to, back, here = (fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for each in pipes)
    for each in pipes:
        os.close(each)
    process = os.posix_spawn(
        str(program()),
        [str(program()), *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        os.environ,
        file_actions=[
            *((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)),
            (os.POSIX_SPAWN_DUP2, there, 3),
            (os.POSIX_SPAWN_DUP2, here, 4),
        ],
    )
    os.close(there)
    os.close(here)
    browser = Browser(to, back)
    try:
        yield browser
    finally:
        browser.call("Browser.close")
        browser._thread.join(_SECONDS)
        os.waitpid(process, 0)
        os.close(to)
        os.close(back)
