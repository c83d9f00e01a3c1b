"""Open a local file of a listing."""

import os

from smlocal.contract.listing import Listing
from smlocal.no_links import Opener, open_file


def open_listed(listing: Listing, index: int) -> int:
    """Open the file of object `index` for reading; `OSError` if it is gone, or a link that the job does not follow."""
    if listing.links:
        # Non-blocking: the file may have been replaced by a FIFO.
        return os.open(listing.file(index), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    return open_file(listing.file(index))


def opener_of(listing: Listing) -> Opener | None:
    """What opens many files of a listing without following links; None if links are followed."""
    return None if listing.links else Opener(listing.root)
