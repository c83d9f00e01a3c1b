"""The data parallel library, as a stand-in on what PyTorch and TensorFlow have themselves."""

__version__ = "2.5.0+smlocal"
"""The release whose names are here, and that this is not that release."""
