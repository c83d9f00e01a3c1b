"""Models that are trained by all ranks together."""

from .distributed import DistributedDataParallel

__all__ = ["DistributedDataParallel"]
