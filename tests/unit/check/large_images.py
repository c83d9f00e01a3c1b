"""Reads one image that takes much of something, in a process with little memory: NAME [seconds]."""

import gzip
import json
import sys
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator

from tests.unit.base.foreign_archive.foreign_archives import BLOCK, header, limited_memory, padded, pax, regular, report
from tests.unit.check.images import ID, configuration

from smlocal.check.image_files import wanted
from smlocal.check.registry import all_rules
from smlocal.check.saved_image import BrokenImageError, read_saved_image

END = bytes(2 * BLOCK)


def image(*layers: Iterable[bytes], times: int = 1, documents: Iterable[bytes] = (), **given: bytes) -> Iterator[bytes]:
    """The archive of an image, piece by piece; each piece of a layer is whole blocks."""
    names = [f"{number}/layer.tar" for number in range(len(layers))]
    for name, layer in zip(names, layers, strict=True):
        # How long it is must be known before it comes; nobody has it whole.
        held = list(layer) if not isinstance(layer, Repeated) else layer
        length = sum(map(len, held)) if isinstance(held, list) else held.length
        yield header(name, size=length + len(END))
        yield from held
        yield END
    for number, document in enumerate(documents):
        yield regular(f"document{number}", document)
    manifest = json.dumps([{"Config": "c.json", "Layers": names * times}]).encode()
    yield regular("c.json", given.get("config", configuration(len(layers) * times)))
    yield regular("manifest.json", given.get("manifest", manifest)) + END


class Repeated:
    """The same kind of entry again and again, with a number of seven digits."""

    def __init__(self, count: int, make: Callable[[int], bytes]) -> None:
        self.count = count
        self.first = make(1_000_000)
        self.length = count * len(self.first)

    def __iter__(self) -> Iterator[bytes]:
        """Each. The checksums are those of the first: they are not looked at where headers have a magic number."""
        return (self.first.replace(b"1000000", b"%d" % (1_000_000 + number)) for number in range(self.count))


def long_name(name: str) -> bytes:
    """As GNU writes it."""
    return header("././@LongLink", tarfile.GNUTYPE_LONGNAME, size=len(name) + 1) + padded(name.encode() + b"\0")


def compressed(parts: Iterable[bytes]) -> bytes:
    """One blob."""
    return padded(gzip.compress(b"".join(parts) + END, compresslevel=1))


DEEP = "/d" * 1990
SHAPES: dict[str, Callable[[], Iterator[bytes]]] = {
    "deep paths": lambda: image(Repeated(1000, lambda n: long_name(f"{n}{DEEP}") + regular("x"))),
    "deep folders that are replaced": lambda: image(
        Repeated(1000, lambda n: long_name(f"a{DEEP}/{n}") + regular("x") + regular("a"))
    ),
    "long names": lambda: image(Repeated(150_000, lambda n: long_name(f"{n}" * 580) + regular("x"))),
    "long targets": lambda: image(
        Repeated(150_000, lambda n: pax(("linkpath", f"{n}" * 580)) + header("l", tarfile.SYMTYPE))
    ),
    "huge targets": lambda: image(
        Repeated(1000, lambda n: pax(("linkpath", f"{n}" * 100_000)) + header("l", tarfile.SYMTYPE))
    ),
    "huge headers": lambda: image(Repeated(1000, lambda n: pax((f"k{n}", bytes(1 << 19))))),
    "long whiteouts": lambda: image(Repeated(150_000, lambda n: long_name(f"d/.wh.{n}" + "w" * 4000) + regular("x"))),
    "hard links": lambda: image(
        [regular("a")], Repeated(150_000, lambda n: long_name(f"{n}" * 580) + header("x", tarfile.LNKTYPE, link="a"))
    ),
    "one layer often": lambda: image(Repeated(3000, lambda n: regular(f"{n}")), times=999),
    "too many layers": lambda: image([regular("a")], times=100_000),
    "documents": lambda: image([regular("a")], documents=(b"{" * (3 << 20) for _ in range(300))),
    "a large manifest": lambda: image([regular("a")], manifest=b"[" + b"{}," * 340_000 + b"{}]"),
    "a manifest with too many layers": lambda: image(
        [regular("a")], manifest=b'[{"Layers":[' + b'"0",' * 250_000 + b'"0"]}]'
    ),
    "a large configuration": lambda: image([regular("a")], config=b'{"history":[' + b"{}," * 1_350_000 + b"{}]}"),
    "parts": lambda: iter([*(header(str(n), tarfile.SYMTYPE, link="x" * 90) for n in range(30_000)), END]),
    "empty parts of gzip": lambda: image([padded(gzip.compress(b"") * 200_000)]),
    "a size below zero": lambda: image([header("x", tarfile.XHDTYPE, size=b"-0000001000\0"), regular("x")]),
    "a nested name": lambda: image([regular("a")], manifest=b'[{"Config":' + b"[" * 900 + b"]" * 900 + b"}]"),
    "nested layers": lambda: image([regular("a")], manifest=b'[{"Layers":[' + b"[" * 900 + b"]" * 900 + b"]}]"),
    "a nested step": lambda: image(
        [regular("a")], config=b'{"history":[{"created_by":' + b"[" * 900 + b"]" * 900 + b"}]}"
    ),
}


def outcome(name: str) -> str:
    """The message about it; a report of a check has it as the reason of a skip."""
    wish = wanted([each for rule in all_rules() for each in rule.files])
    try:
        found = read_saved_image(SHAPES[name](), wish, image=ID)
    except BrokenImageError as error:
        return str(error)
    return found.files.unread[0] if found.files.unread else "read"


if __name__ == "__main__":
    limited_memory()
    begun = time.process_time()
    report([outcome(sys.argv[1])])
    if sys.argv[2:]:
        sys.stderr.write(f"{time.process_time() - begun:.2f} s\n")
