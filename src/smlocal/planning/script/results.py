"""Data out: what the service would upload, put where the run would put it."""

from collections.abc import Iterator

from smlocal.contract import paths
from smlocal.planning.model import JobPlan
from smlocal.planning.script.shell import here, quote


def collect(plan: JobPlan) -> Iterator[str]:
    """The archives, or the model as it is."""
    target = quote(f"{plan.output.directory}/output")
    yield f"mkdir -p {target}"
    models = [here(host, paths.MODEL) for host in plan.hosts]
    if plan.output.compression == "NONE":
        for model in models:
            yield f"mkdir -p {target}/model && cp -a {model}/. {target}/model/"
    else:
        yield from _archive(models, f"{target}/model.tar.gz")
    outputs = plan.hosts if plan.output.merge_output else plan.hosts[:1]
    yield from _archive([here(host, paths.OUTPUT_DATA) for host in outputs], f"{target}/output.tar.gz")


def _archive(folders: list[str], target: str) -> Iterator[str]:
    folder = folders[0]
    for other in folders[1:]:
        yield f"cp -a {other}/. {folder}/"
    # Like the service's archive: entries relative to the folder, no archive when nothing was written.
    yield (
        f"[ -z \"$(ls -A {folder})\" ] || (cd {folder} && find . -mindepth 1 -printf '%P\\0' | LC_ALL=C sort -z | "
        f"tar --null --no-recursion -T - --owner=0 --group=0 -cz) >{target}"
    )
