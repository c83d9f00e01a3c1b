"""Labels of the containers of replicas."""

from typing import Final

NUMBER_LABEL: Final = "smlocal.number"
"""The number of a container among all containers of its replica."""
