"""Reads damaged images as `check` does, in a process with little memory: COUNT [slowest]."""

import gzip
import random
import sys
import tarfile
import time
from collections.abc import Iterator

from tests.unit.base.foreign_archive.foreign_archives import damaged, limited_memory, pieces, report
from tests.unit.check.images import FOLDER, HARD, ID, LINK, archive, configuration, file, layer, program, saved

from smlocal.check.image_files import wanted
from smlocal.check.registry import all_rules
from smlocal.check.saved_image import BrokenImageError, read_root, read_saved_image

SEED = 20_261_124
LAYERS = (
    layer(
        file("bin/", kind=FOLDER),
        program("bin/train"),
        file("x" * 150, b"1"),
        file("l", kind=LINK, link="bin/train"),
        file("opt/ml/code/train.py", b"import os\n"),
        format=tarfile.PAX_FORMAT,
    ),
    layer(file("h", kind=HARD, link="bin/train"), file("y" * 150), file("opt/.wh.ml"), file("bin/.wh..wh..opq")),
)
MANIFEST = b'[{"Config":"c.json","Layers":["1/layer.tar","2.tar","1/layer.tar"]}]'


def damaged_image(chance: random.Random) -> bytes:
    """An image with damage in its layers, compressed or not, in the archive around them, or in its documents."""
    layers = [damaged(each, chance) if chance.randrange(2) else each for each in LAYERS]
    if chance.randrange(3) == 0:
        layers = [gzip.compress(each, compresslevel=1) for each in layers]
    if chance.randrange(4) == 0:
        documents = [bytearray(MANIFEST), bytearray(configuration(3))]
        for document in documents:
            place = chance.randrange(len(document))
            what = chance.choice((b"[" * 5000, b"9" * 5000, b"{}", b"null,", b'"', b"\xff", b'{"a":' * 3000, b"1e999"))
            document[place : place + chance.randint(0, 9)] = what
        names = {"1/layer.tar": layers[0], "2.tar": layers[1], "c.json": bytes(documents[1])}
        whole = archive({**names, "manifest.json": bytes(documents[0])})
    else:
        whole = saved(*layers)
    return damaged(whole, chance) if chance.randrange(2) else whole


def attempts(count: int, slowest: list[float]) -> Iterator[str]:
    """How each ended. Whatever is not expected ends the process."""
    rules = all_rules()
    wish = wanted([each for rule in rules for each in rule.files])
    for number in range(count):
        chance = random.Random(SEED + number)
        content = damaged_image(chance)
        begun = time.process_time()
        try:
            files = read_saved_image(pieces(content, 4096), wish, image=ID).files
            for found in files.everything():
                files.find(found.path)
            yield "unread" if files.unread else "read"
            read_root(pieces(damaged(LAYERS[0], chance)), wish)
            yield "root read"
        except BrokenImageError as error:
            yield str(error).partition(":")[0].partition(" its layer")[0]
        except BaseException:
            sys.stderr.write(f"image {number}\n")
            raise
        slowest.append(time.process_time() - begun)


if __name__ == "__main__":
    limited_memory()
    times: list[float] = []
    report(attempts(int(sys.argv[1]), times))
    if sys.argv[2:]:
        sys.stderr.write(f"slowest: {max(times):.3f} s\n")
