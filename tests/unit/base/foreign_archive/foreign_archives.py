"""Archives that no tool would write, and a process with little memory in which they are read."""

import gzip
import io
import json
import random
import resource
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
BLOCK = 512
MEMORY = 500 << 20
"""More than any archive may take."""
SIZES = (b"-0000000777\0", b"77777777777\0", b"00000000001\0", b"\x80" + b"\xff" * 11, b"\xff" * 12, b"x" * 12)
NAMES = (b"../" * 33, b"/" * 100, b"a/" * 50, b"\0" * 100, b"\xff" * 100, b"." * 100, b".wh." * 25, b"..\0" * 33)


def header(
    name: str = "x", kind: bytes = tarfile.REGTYPE, *, size: int | bytes = 0, link: str = "", mode: int = 0o644
) -> bytes:
    """One block, whatever it says: a `size` in bytes is written as it is."""
    info = tarfile.TarInfo("x")
    info.type, info.mode, info.mtime = kind, mode, 1_700_000_000
    info.size = size if isinstance(size, int) else 0
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT)[:BLOCK])
    for at, length, text in ((0, 100, name), (157, 100, link)):
        block[at : at + length] = text.encode("utf-8", "surrogateescape")[:length].ljust(length, b"\0")
    if isinstance(size, bytes):
        block[124:136] = size
    return with_checksum(block)


def with_checksum(block: bytes | bytearray) -> bytes:
    """The same header, as if it had been meant."""
    changed = bytearray(block)
    changed[148:156] = b" " * 8
    changed[148:156] = b"%06o\0 " % sum(changed)
    return bytes(changed)


def padded(content: bytes) -> bytes:
    """As contents are in an archive."""
    return content + bytes(-len(content) % BLOCK)


def pax(*records: tuple[str, str | bytes], kind: bytes = tarfile.XHDTYPE) -> bytes:
    """An extended header about the entry after it."""
    content = b""
    for key, value in records:
        rest = b" %s=%s\n" % (key.encode(), value if isinstance(value, bytes) else value.encode())
        length = len(rest) + len(str(len(rest)))
        length = len(rest) + len(str(length))
        content += b"%d%s" % (length, rest)
    return header("pax", kind, size=len(content)) + padded(content)


def regular(name: str, content: bytes = b"", *, mode: int = 0o644) -> bytes:
    """A file."""
    return header(name, size=len(content), mode=mode) + padded(content)


def packed(*parts: bytes) -> bytes:
    """A tar.gz of these blocks."""
    return gzip.compress(b"".join(parts) + bytes(2 * BLOCK), compresslevel=1)


def valid(*, links: bool = True) -> bytes:
    """A tar with every kind of header that writers make, in both formats: long and odd names, perhaps links."""
    formats = []
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        into = io.BytesIO()
        with tarfile.open(fileobj=into, mode="w", format=form, encoding="utf-8", errors="surrogateescape") as archive:
            for name, kind, link, content in (
                ("pkg", tarfile.DIRTYPE, "", b""),
                ("pkg/train.py", tarfile.REGTYPE, "", b"print()\n" * 100),
                ("n" * 150 + "/long.py", tarfile.REGTYPE, "", b"x"),
                ("pkg/again", tarfile.LNKTYPE, "pkg/train.py", b""),
                ("conformance-algo-1.json", tarfile.REGTYPE, "", b'{"Schema": 1}'),
                ("traces/link", tarfile.SYMTYPE, "t" * 120, b""),
                ("\udcff\udcfe", tarfile.REGTYPE, "", b"12"),
            ):
                info = tarfile.TarInfo(name)
                info.type, info.linkname, info.size = kind, link, len(content)
                if links or kind != tarfile.SYMTYPE:
                    archive.addfile(info, io.BytesIO(content))
            length = archive.offset
        formats.append(into.getvalue()[:length])
    return b"".join(formats) + bytes(2 * BLOCK)


def damaged(tar: bytes, chance: random.Random) -> bytes:
    """A mutation: of any byte, of the fields of headers with their checksums right, or of the order of blocks."""
    changed = bytearray(tar)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) // BLOCK) * BLOCK
        way = chance.randrange(5)
        if way == 0:
            place = chance.randrange(len(changed))
            changed[place : place + chance.randint(1, 12)] = chance.randbytes(chance.randint(1, 12))
        elif way == 1:
            changed[at + 124 : at + 136] = chance.choice(SIZES)
        elif way == 2:
            changed[at + 156 : at + 157] = chance.choice(
                (b"x", b"g", b"L", b"K", b"S", b"1", b"2", b"5", b"6", b"\xff")
            )
        elif way == 3:
            changed[at : at + 100] = chance.choice(NAMES)[:100].ljust(100, b"\0")
        else:
            other = chance.randrange(len(changed) // BLOCK) * BLOCK
            changed[at : at + BLOCK] = changed[other : other + BLOCK]
        if way in {1, 2, 3} and len(changed) >= at + BLOCK:
            changed[at : at + BLOCK] = with_checksum(changed[at : at + BLOCK])
    if chance.randrange(8) == 0:
        del changed[chance.randrange(len(changed)) :]
    return bytes(changed)


def damaged_gzip(tar: bytes, chance: random.Random) -> bytes:
    """A mutation that is compressed, or of what is compressed; in one part or in several."""
    cut = chance.randrange(len(tar))
    parts = [tar] if chance.randrange(3) else [tar[:cut], tar[cut:]]
    whole = bytearray(b"".join(gzip.compress(part, compresslevel=1) for part in parts))
    if chance.randrange(4) == 0:
        place = chance.randrange(len(whole))
        whole[place : place + 4] = chance.randbytes(4)
    if chance.randrange(8) == 0:
        del whole[chance.randrange(len(whole)) :]
    return bytes(whole)


def pieces(content: bytes, size: int = 65536) -> Iterator[bytes]:
    """As they come from a file or a socket."""
    return (content[at : at + size] for at in range(0, len(content), size))


def limited_memory() -> None:
    """From now on this process gets so much more than it has."""
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def in_small_process(module: str, *arguments: str) -> Mapping[str, Any]:
    """The output of such a process: one document."""
    command = [sys.executable, "-m", f"tests.unit.{module}", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report(outcomes: Iterable[str]) -> None:
    """Print how many ended in which way, and what that took."""
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome] = counts.get(outcome, 0) + 1
    status = Path("/proc/self/status").read_text(encoding="ascii")  # what getrusage says is also of who started it
    peak = next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))
    sys.stdout.write(json.dumps({"outcomes": counts, "peak": peak}))


Attempt = Callable[[bytes], object]
