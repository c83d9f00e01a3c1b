"""What the kernel makes of a file that it executes: a script with its interpreter, or a binary with its loader."""

import struct

from smlocal.quick_dataclass import dataclass

_SHELLS = {"sh", "ash", "bash", "dash", "ksh", "zsh"}
_ELF = b"\x7fELF"
_INTERPRETER = 3
"""The kind of a program header that names the loader."""
_MACHINES = {3: "386", 40: "arm", 62: "amd64", 183: "arm64", 21: "ppc64le", 22: "s390x", 243: "riscv64"}
"""By the numbers of the ELF format, in the words of images."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A file that begins with `#!`."""

    interpreter: str
    """As written, without a carriage return."""
    arguments: tuple[str, ...]
    has_carriage_return: bool
    """True when the first line ends as on Windows: the kernel takes the character for a part of the name."""

    @property
    def program(self) -> str:
        """What runs it in the end: the `python3` of `#!/usr/bin/env python3`."""
        if self.interpreter.rpartition("/")[2] == "env":
            return next((word for word in self.arguments if not word.startswith("-") and "=" not in word), "")
        return self.interpreter

    @property
    def is_shell(self) -> bool:
        """Whether a shell runs it."""
        return self.program.rpartition("/")[2] in _SHELLS


@dataclass(frozen=True, kw_only=True, slots=True)
class Binary:
    """A program in the format of Linux."""

    architecture: str
    """In the words of images; empty for one that nobody trains on."""
    loader: str
    """What loads its libraries; empty for a static one."""


def read_program(content: bytes) -> Script | Binary | None:
    """What the beginning of a file says; None for something that the kernel does not execute."""
    if content.startswith(b"#!"):
        line = content[2:].split(b"\n", 1)[0].decode("utf-8", "surrogateescape")
        words = line.split()
        return Script(
            interpreter=words[0] if words else "", arguments=tuple(words[1:]), has_carriage_return=line.endswith("\r")
        )
    return _binary(content) if content.startswith(_ELF) else None


def _binary(content: bytes) -> Binary:
    try:
        wide, order = content[4] == 2, "<" if content[5] == 1 else ">"  # noqa: PLR2004 - the class of 64 bits
        (machine,) = struct.unpack_from(f"{order}H", content, 18)
        table, size, count = (
            (*struct.unpack_from(f"{order}Q", content, 32), *struct.unpack_from(f"{order}HH", content, 54))
            if wide
            else (*struct.unpack_from(f"{order}I", content, 28), *struct.unpack_from(f"{order}HH", content, 42))
        )
        loader = ""
        for number in range(count):
            at = table + number * size
            (kind,) = struct.unpack_from(f"{order}I", content, at)
            if kind == _INTERPRETER:
                place, length = (
                    struct.unpack_from(f"{order}Q16xQ", content, at + 8)
                    if wide
                    else struct.unpack_from(f"{order}I8xI", content, at + 4)
                )
                loader = content[place : place + length].split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
    except (struct.error, IndexError):  # what is meant lies behind the part that was kept
        return Binary(architecture="", loader="")
    return Binary(architecture=_MACHINES.get(machine, ""), loader=loader)
