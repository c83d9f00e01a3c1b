"""Data in: what every host finds below `/opt/ml/input`, and the code."""

import re
from collections.abc import Iterator

from smlocal.contract import paths
from smlocal.planning.model import HostPlan, JobPlan, TreePlan
from smlocal.planning.script.pipes import feeders
from smlocal.planning.script.secrets import Secrets
from smlocal.planning.script.shell import here, quote

_LISTED = 20
"""A longer manifest is made by `find` instead of being written out."""


def tree_of(plan: JobPlan, host: HostPlan, secrets: Secrets) -> Iterator[str]:
    """What one host finds; nothing here may change the user's own files."""
    yield "mkdir -p " + " ".join(here(host, folder) for folder in host.directories)
    for tree in host.channels:
        yield from _staged(tree, host, rootless=plan.engine.rootless)
    manifests = {paths.channel_manifest(tree.name): tree for tree in host.channels}
    for path, content in host.files.items():
        channel = manifests.get(path)
        if channel is not None and channel.listing.whole_tree and len(channel.listing.paths) > _LISTED:
            yield from _long_manifest(channel, host, here(host, path))
        else:
            yield f"printf %s {secrets.file(path, content)} >{here(host, path)}"
    yield from feeders(host)
    if plan.code is not None:
        yield from _staged(plan.code, host, rootless=plan.engine.rootless)


def _long_manifest(tree: TreePlan, host: HostPlan, target: str) -> Iterator[str]:
    listing = tree.listing
    folder = here(host, tree.target) if listing.remote else quote(listing.root)
    uri = listing.uri("").replace("%", "%%").replace("\\", "\\\\")
    yield (
        f"{{ printf '%s\\n' {quote(listing.prefix)}; (cd {folder} && "
        f"find -L . -type f -printf {quote(uri + '%P' + chr(92) + 'n')} | LC_ALL=C sort); }} >{target}"
    )


def _staged(tree: TreePlan, host: HostPlan, *, rootless: bool) -> Iterator[str]:
    """An overlay of the whole tree where the plan says so, else a copy: the user's files stay as they are."""
    listing = tree.listing
    folder = here(host, tree.target)
    yield f"mkdir -p {folder}"
    if listing.remote:
        yield from _from_s3(tree, folder)
    elif bound(tree):
        return
    elif shown_in_place(tree):
        yield from _overlay(listing.root, volume(tree, host), rootless=rootless)
    elif listing.whole_tree:
        yield f"cp -RL {quote(listing.root)}/. {folder}/"
    else:
        for index, path in enumerate(listing.paths):
            above, _, _ = path.rpartition("/")
            if above:
                yield f"mkdir -p {folder}/{quote(above)}"
            yield f"cp -L {quote(listing.file(index))} {folder}/{quote(path)}"


def _from_s3(tree: TreePlan, folder: str) -> Iterator[str]:
    listing = tree.listing
    if not copied_by_hand(tree):
        return
    if len(listing.paths) > _LISTED:
        yield f"aws s3 cp --recursive --only-show-errors {quote(listing.uri(''))} {folder}/"
        return
    for index, path in enumerate(listing.paths):
        source = quote(f"{listing.bucket_uri}{listing.key(index)}")
        yield f"aws s3 cp --only-show-errors {source} {folder}/{quote(path)}"


def copied_by_hand(tree: TreePlan) -> bool:
    """True for objects that a few commands bring."""
    listing = tree.listing
    if listing.failure is not None:
        return False
    return len(listing.paths) <= _LISTED or (listing.whole_tree and not listing.keys and listing.key_base != "")


def bound(tree: TreePlan) -> bool:
    """A folder that is mounted as it is."""
    listing = tree.listing
    whole = tree.mode == "FileSystem" or (listing.whole_tree and not listing.copy_reasons)
    return tree.staging == "bind" and whole and not listing.remote


def shown_in_place(tree: TreePlan) -> bool:
    """A folder that is the lower layer of an overlay."""
    return tree.staging == "overlay" and tree.listing.whole_tree and not tree.listing.remote


def _overlay(lower: str, name: str, *, rootless: bool) -> Iterator[str]:
    for part in ("upper", "work"):
        yield f'docker volume create --label "$L" {name}-{part} >/dev/null'
    data = "docker volume inspect -f '{{.Mountpoint}}'"
    rest = ",userxattr" if rootless else ",redirect_dir=on,index=off"  # as in `channels.overlay`, which says why
    escaped = re.sub(r"([\\:,])", r"\\\1", lower)
    options = f'"lowerdir="{quote(escaped)}",upperdir=$({data} {name}-upper),workdir=$({data} {name}-work){rest}"'
    yield (
        f'docker volume create --label "$L" --opt type=overlay --opt device=overlay --opt o={options} {name} >/dev/null'
    )


def volume(tree: TreePlan, host: HostPlan) -> str:
    """The overlay's name, as a word of the script."""
    return f'"by-hand-$J-{host.host.name}"-{quote(tree.name)}'
