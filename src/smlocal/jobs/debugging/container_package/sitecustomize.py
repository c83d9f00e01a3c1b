"""Makes the program of a container wait for a debugger. Python imports this at its start; the script is not changed.

It runs on the Python of the image, 3.7 or newer, and in every Python process of the container: only the first one that
runs a script or a module listens. Processes that it starts are the debugger's own business.
"""

import errno
import importlib.machinery
import importlib.util
import os
import signal
import socket
import sys
import time
from contextlib import contextmanager
from typing import Any, Iterator, List

_PORT = "SMLOCAL_DEBUG_PORT"
_ADDRESS = "SMLOCAL_DEBUG_ADDRESS"
"""Where to listen; the default is reached through a published port."""
_TAKEN = "SMLOCAL_DEBUG_PROCESS"
_SAID = "SMLOCAL_DEBUG_SAID"
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
_NOT_PROGRAMS = ("pip", "venv", "ensurepip", "debugpy")


def _say(text: str) -> None:
    """On stderr, as a line of the log."""
    sys.stderr.write("smlocal: {}\n".format(text))
    sys.stderr.flush()


def _is_program(words: List[str]) -> bool:
    """True if the words of a command start a script or a module, not a line of code or an interactive Python."""
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word == "-m":
            return bool(rest) and rest[0].split(".")[0] not in _NOT_PROGRAMS
        if word in _WITH_VALUE:
            rest = rest[1:]
        elif not word.startswith("-"):
            return True
        elif word == "-" or (not word.startswith("--") and word.endswith("c")):
            return False
    return False


def _command() -> List[str]:
    """The words that started this process."""
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]


@contextmanager
def _stoppable() -> Iterator[None]:
    """End at SIGTERM. The kernel keeps signals without a handler from the first process of a container."""
    try:
        before = signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    except ValueError:  # only the main thread may ask for signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _wait_with_debugpy(port: int) -> None:
    """Wait for an editor. A second program of the container finds the port taken, and runs without."""
    os.environ[_TAKEN] = str(os.getpid())
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # its advice about frozen modules is not for the log
    os.environ.setdefault("DEBUGPY_PROCESS_SPAWN_TIMEOUT", "60")
    import debugpy

    try:
        debugpy.listen((os.environ.get(_ADDRESS, "0.0.0.0"), port))
    except (OSError, RuntimeError):
        del os.environ[_TAKEN]
        return
    _say("the program waits for a debugger (debugpy) at 127.0.0.1:{}".format(port))
    debugpy.wait_for_client()


def _break_with_pdb(port: int) -> None:
    """Without debugpy, `breakpoint()` opens pdb on the port."""
    open_now: List[Any] = []

    def hook(*_: Any, **__: Any) -> None:
        import pdb

        class Remote(pdb.Pdb):
            def do_EOF(self, _: str) -> bool:
                """The client is gone: the program goes on."""
                open_now.clear()
                self.set_continue()
                return True

        if not open_now:
            stream = _accept(port).makefile("rw", encoding="utf-8", errors="replace")
            open_now.append(Remote(stdin=stream, stdout=stream))
            open_now[0].prompt = "(Pdb) "
        open_now[0].set_trace(sys._getframe(1))

    sys.breakpointhook = hook


def _accept(port: int) -> socket.socket:
    """The next client. Another process of the container may have the port for a while."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    while True:
        try:
            server.bind((os.environ.get(_ADDRESS, "0.0.0.0"), port))
            break
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            time.sleep(0.2)
    server.listen(1)
    _say("breakpoint() waits for a client (nc 127.0.0.1 {0}) at 127.0.0.1:{0}".format(port))
    with _stoppable(), server:
        return server.accept()[0]


def _import_hidden() -> None:
    """Run the sitecustomize of the image, which this one hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [path for path in sys.path if os.path.abspath(path) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _main() -> None:
    """Prepare this process."""
    if not os.environ.get(_PORT) or os.environ.get(_TAKEN):
        return
    port = int(os.environ[_PORT])
    if importlib.util.find_spec("debugpy") is None:
        if not os.environ.get("PYTHONBREAKPOINT"):
            _break_with_pdb(port)
            if _is_program(_command()) and not os.environ.get(_SAID):
                os.environ[_SAID] = "yes"
                _say("debugpy is not installed: breakpoint() opens pdb at 127.0.0.1:{}".format(port))
    elif _is_program(_command()):
        with _stoppable():
            _wait_with_debugpy(port)


_import_hidden()
_main()
