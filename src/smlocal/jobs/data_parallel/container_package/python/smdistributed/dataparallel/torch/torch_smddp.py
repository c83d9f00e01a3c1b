"""Importing this module registers the backend `smddp` with `torch.distributed`."""

from .backend import NAME, register

register()
__all__ = ["NAME"]
