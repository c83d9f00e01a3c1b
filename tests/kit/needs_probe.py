"""A program that does what `smlocal ARGUMENTS` does (or runs CODE), and writes what it needed for it to a file.

    python needs_probe.py FILE smlocal ARGUMENTS
    python needs_probe.py FILE code CODE

It imports nothing that Python itself has not imported before it, so that it can say what is absent.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

_FUNCTION = 0x01
"""`inspect.CO_OPTIMIZED`: bodies of classes and of modules do not have it."""
_STARTS = ("os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen")

before = set(sys.modules)
importers: dict[str, str] = {}
events: dict[str, list[str]] = {"threads": [], "processes": [], "requests": [], "regexes": []}
called: set[str] = set()


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Note processes, and who imports a module first."""
    if event == "import":
        importers.setdefault(arguments[0], _importer(sys._getframe(1)))
    elif event in _STARTS:
        events["processes"].append(f"{event}{arguments!r}"[:200])


def _importer(frame: FrameType | None) -> str:
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")) if frame is not None else "?"


def profile(frame: FrameType, event: str, _: object) -> None:
    """Note which files have functions that were called, threads, requests to engines, and compiled regexes."""
    if event != "call":
        return
    code = frame.f_code
    if code.co_flags & _FUNCTION and (code.co_name[0] != "<" or code.co_name == "<lambda>"):
        called.add(code.co_filename)
        if code.co_name == "exchange" and code.co_filename.endswith("engine/http.py"):
            events["requests"].append(f"{frame.f_locals['method']} {frame.f_locals['target']}")
        elif code.co_qualname == "Thread.start":
            events["threads"].append(repr(frame.f_locals["self"]))
        elif code.co_name == "compile" and code.co_filename.endswith("re/_compiler.py"):
            events["regexes"].append(f"{_compiler(frame)}: {frame.f_locals['p']!r}"[:120])


def _compiler(frame: FrameType | None) -> str:
    while frame is not None and frame.f_globals["__name__"].partition(".")[0] in {"re", "functools"}:
        frame = frame.f_back
    return str(frame.f_globals["__name__"]) if frame is not None else "?"


def report(file: str) -> None:
    """Write the counts, each with what was counted."""
    sys.setprofile(None)
    modules = {name: module for name, module in sys.modules.items() if name not in before and module is not None}
    sizes = {name: size for name, module in modules.items() if (size := _size(name, module))}
    classes = [
        f"{name}.{each.__qualname__}"
        for name, module in modules.items()
        for each in list(vars(module).values())
        if isinstance(each, type) and each.__module__ == name and "__dataclass_fields__" in vars(each)
    ]
    ours = [name for name in modules if name.partition(".")[0] == "smlocal"]
    found = {
        "modules": list(modules),
        "ours": ours,
        "sizes": {name: sizes[name] for name in ours if name in sizes},
        "extensions": [
            name for name, module in modules.items() if str(getattr(module, "__file__", "")).endswith((".so", ".pyd"))
        ],
        "dataclasses": classes,
        "uncalled": [name for name in ours if name in sizes and modules[name].__file__ not in called],
        "importers": importers,
        **events,
    }
    import json

    with open(file, "w", encoding="utf-8") as out:
        json.dump(found, out)


def _size(name: str, module: Any) -> int:
    """The bytes of its .pyc, whatever folder it is in; 0 of an empty module."""
    code = _code(name, module)
    if code is None or not code.co_names:
        return 0
    import marshal

    return len(marshal.dumps(code)) - len(code.co_filename)


def _code(name: str, module: Any) -> CodeType | None:
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    get: Callable[[str], CodeType | None] | None = getattr(loader, "get_code", None)
    return get(name) if get is not None and name.partition(".")[0] == "smlocal" else None


def main() -> None:
    import os
    import threading

    file, kind, *arguments = sys.argv[1:]
    here, leave, done = os.getpid(), os._exit, False

    def end() -> None:
        nonlocal done
        if os.getpid() == here and not done:
            done = True
            report(file)

    def leave_with(code: int) -> None:
        end()
        leave(code)

    before.update(sys.modules)
    os._exit = leave_with  # type: ignore[assignment] # what it is in the end
    sys.addaudithook(watch)
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        if kind == "code":
            exec(arguments[0], {})
        else:
            sys.argv = ["smlocal", *arguments]
            from smlocal.__main__ import main as smlocal

            smlocal()
    finally:
        end()


if __name__ == "__main__":
    main()
