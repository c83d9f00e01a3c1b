"""A sample of what a channel selects: its first objects."""

from dataclasses import replace

from smlocal.contract.listing import Listing
from smlocal.sources.file_permissions import sizes_and_modes


def first_objects(listing: Listing, count: int) -> Listing:
    """The first `count` objects in listing order; the listing itself if it has no more."""
    left_out = len(listing.paths) - count
    if left_out <= 0:
        return listing
    sizes = listing.sizes[:count]
    part = replace(
        listing,
        paths=listing.paths[:count],
        keys=listing.keys[:count],
        sizes=sizes,
        etags=listing.etags[:count],
        total_bytes=sum(sizes) if sizes else None,
        whole_tree=False,
        directories=(),
        left_out=left_out,
    )
    if listing.remote:
        return part
    files = [part.file(index)[len(part.root) + 1 :] for index in range(count)]
    total, unlike = sizes_and_modes(part.root, files)
    return replace(part, total_bytes=total, unlike_service_modes=unlike)
