"""How a folder gets into the container: mounted copy-on-write, or copied first."""

from typing import Literal

from smlocal.contract.listing import Listing

Staging = Literal["overlay", "copy", "bind", "fuse", "send"]
"""`bind`: mounted read-only or as it is; `fuse`: objects streamed from S3; `send`: sent into a volume of an engine that
does not see the folder."""

_REASONS_SHOWN = 2
_NO_RENAMES = "with a rootless overlay its folders cannot be renamed; Local.Staging overlay allows that"


def choose_staging(
    listing: Listing,
    requested: Staging | None,
    *,
    fast_file: bool = False,
    no_fuse: str | None = None,
    shared: bool = True,
    rootless: bool = False,
) -> tuple[Staging, str | None]:
    """Return the staging, and why it is not the default (None if it is, or if the user requested it).

    A selection that is not a whole folder is first collected in a folder of its own, as regular files, so links and
    mounts around it do not matter. `shared` is False for an engine that does not see this machine's folders. In the
    overlays of a `rootless` engine folders cannot be renamed, so they are used only on request.
    """
    if not shared:
        return "send", no_fuse if fast_file and listing.remote else None
    if fast_file:
        if listing.remote:
            return ("fuse", None) if no_fuse is None else ("bind", no_fuse)
        return "bind", None
    if requested != "copy" and listing.whole_tree and listing.copy_reasons:
        shown = "; ".join(listing.copy_reasons[:_REASONS_SHOWN])
        more = len(listing.copy_reasons) - _REASONS_SHOWN
        return "copy", f"{shown}; and {more} more" if more > 0 else shown
    if rootless and requested is None:
        return "copy", _NO_RENAMES
    return requested or "overlay", None
