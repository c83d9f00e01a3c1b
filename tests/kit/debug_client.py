"""A client that speaks the Debug Adapter Protocol, as editors do, and one for pdb on a socket."""

import json
import socket
from collections.abc import Callable, Mapping
from typing import Any

SECONDS = 200.0


def connected(port: int) -> socket.socket:
    """A connection to a port of this machine, once something listens behind the engine's proxy."""
    return socket.create_connection(("127.0.0.1", port), timeout=SECONDS)


class Debugger:
    """One session of an editor."""

    def __init__(self, port: int, **attach: Any) -> None:
        self.socket = connected(port)
        self.stream = self.socket.makefile("rb")
        self.sent = 0
        self.seen: list[dict[str, Any]] = []
        self.ask("initialize", adapterID="test", clientID="test", pathFormat="path")
        self.attaching = self.send("attach", **{"justMyCode": False, "subProcess": True, **attach})
        self.event("initialized")

    def send(self, command: str, **arguments: Any) -> int:
        self.sent += 1
        body = json.dumps({"seq": self.sent, "type": "request", "command": command, "arguments": arguments}).encode()
        self.socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self.sent

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self.answer(self.send(command, **arguments))

    def answer(self, number: int) -> dict[str, Any]:
        answer = self._until(lambda each: each["type"] == "response" and each["request_seq"] == number)
        assert answer["success"], answer
        body: dict[str, Any] = answer.get("body") or {}
        return body

    def event(self, name: str) -> dict[str, Any]:
        body: dict[str, Any] = self._until(lambda each: each["type"] == "event" and each["event"] == name).get(
            "body", {}
        )
        return body

    def break_at(self, path: str, line: int) -> None:
        """Set the breakpoint and let the program begin."""
        found = self.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": line}])
        assert [each["verified"] for each in found["breakpoints"]] == [True]
        self.ask("configurationDone")
        self.answer(self.attaching)

    def value(self, expression: str) -> tuple[int, str]:
        """Wait until the program stands; returns the line, and a value there."""
        thread = self.event("stopped")["threadId"]
        frame = self.ask("stackTrace", threadId=thread)["stackFrames"][0]
        found = self.ask("evaluate", expression=expression, frameId=frame["id"])
        return frame["line"], found["result"]

    def go_on(self) -> None:
        """Remove the breakpoint, and let the program run to its end."""
        self.ask("disconnect", terminateDebuggee=False)
        self.close()

    def close(self) -> None:
        self.stream.close()
        self.socket.close()

    def _until(self, wanted: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
        """The first message that is wanted; others are kept for later."""
        for each in self.seen:
            if wanted(each):
                self.seen.remove(each)
                return each
        while True:
            length = 0
            while (line := self.stream.readline().strip()) or not length:
                length = int(line.partition(b":")[2])
            message: dict[str, Any] = json.loads(self.stream.read(length))
            if wanted(message):
                return message
            self.seen.append(message)


class Pdb:
    """A person with `nc`."""

    def __init__(self, port: int) -> None:
        self.socket = connected(port)

    def until_prompt(self) -> str:
        shown = b""
        while not shown.endswith(b"(Pdb) "):
            piece = self.socket.recv(4096)
            assert piece, shown
            shown += piece
        return shown.decode()

    def type(self, words: str) -> None:
        self.socket.sendall(f"{words}\n".encode())

    def close(self) -> None:
        self.socket.close()
