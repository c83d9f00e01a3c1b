"""The life of one container as a user who is in the engine's group and nothing more; run by the tests as root.

Everything is imported first: a Python in root's home is out of that user's sight.
"""

import json
import os
import resource
import stat
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from smlocal.base.files import remove_tree
from smlocal.base.foreign_archive import archive as foreign_archive
from smlocal.data.artifacts import archive, gzip_stream, model_folder
from smlocal.data.artifacts.job_artifacts import write_artifacts
from smlocal.data.artifacts.model_folder import read_or_copy
from smlocal.data.artifacts.ownership import give_to_root, give_to_user
from smlocal.data.artifacts.tree import walk
from smlocal.engine.endpoint import find_endpoint
from smlocal.engine.engines import connect
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Mount, Resource, ResourceKind

UID = 54321
LOADED = (archive, foreign_archive, gzip_stream, model_folder, tarfile, resource)

FOLDERS: dict[str, Any] = {"model_folder": "/opt/ml/model", "output_folder": "/opt/ml/output/data"}


def main(place: str, image: str, job: str, script: str) -> None:
    os.setgroups([os.stat(find_endpoint().path).st_gid])
    os.setgid(UID)
    os.setuid(UID)
    os.umask(0o022)
    host = f"{place}/host"
    binds = [(f"{host}/{name}", f"/opt/ml/{name}") for name in ("input", "model", "output")]
    for here, _ in binds:
        os.makedirs(here)
    os.makedirs(f"{host}/output/data")
    os.makedirs(f"{host}/input/config")
    Path(f"{host}/input/config/a.json").write_text("{}", encoding="utf-8")

    engine = connect()
    container = engine.create(
        ContainerSpec(
            name=job,
            image=image,
            labels={JOB_LABEL: job},
            entrypoint=None,
            command=("train",),
            environment={"SCRIPT": script},
            hostname="algo-1",
            network="none",
            mounts=tuple(Mount(source=here, target=there) for here, there in binds),
        )
    )
    entries: list[tuple[str, int, bytes | None]] = [(there, 0o755, None) for _, there in binds]
    entries += [("/opt/ml/output/data", 0o755, None), ("/opt/ml/input/config", 0o755, None)]
    give_to_root(engine, container, "/", [*entries, ("/opt/ml/input/config/a.json", 0o644, b'{"a":1}')])
    output = engine.attach(container)
    engine.start(container)
    written = b"".join(written.lines for written in output).decode()
    code = engine.wait(container)

    try:
        walk("algo-1", f"{host}/model")
    except PermissionError:
        readable = False
    else:
        readable = True
    trees = [
        read_or_copy("algo-1", f"{host}/{name}", engine=engine, container=container, path=f"/opt/ml/{name}", copy_to=to)
        for name, to in (("model", f"{place}/spool-model"), ("output/data", f"{place}/spool-output"))
    ]
    done = write_artifacts(
        trees[:1],
        trees[1:],
        **FOLDERS,
        destination=f"{place}/out",
    )

    refused = ""
    try:
        remove_tree(host)
    except PermissionError as error:
        refused = str(error)
    calls = []
    put = engine.put_archive

    def counting_put(container: str, path: str, data: bytes | Iterable[bytes], *, small: bool = False) -> None:
        calls.append(path)
        put(container, path, data, small=small)

    engine.put_archive = counting_put  # type: ignore[method-assign]  # only counts, and sends it on
    give_to_user(engine, container, [*binds, (f"{host}/nowhere", "/opt/ml/nowhere")])
    owners = {os.stat(folder).st_uid for folder, _, _ in os.walk(host)}
    modes = {oct(stat.S_IMODE(os.stat(folder).st_mode) & 0o700) for folder, _, _ in os.walk(host)}
    give_to_user(engine, container, binds)
    engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    remove_tree(host)
    answer = {
        "written": written,
        "code": code,
        "readable": readable,
        "refused": refused,
        "calls": len(calls),
        "owners": sorted(owners),
        "modes": sorted(modes),
        "model": done.model,
        "output": done.output,
        "notes": done.notes,
        "left": os.path.lexists(host),
    }
    print(json.dumps(answer))  # noqa: T201 - the answer to the test


main(*sys.argv[1:])
