"""The data parallel library, as a stand-in on PyTorch's own backends."""

__version__ = "2.5.0+smlocal"
"""The release whose names are here, and that this is not that release."""
