"""A module next to the entry point: the whole source directory is in the container."""

import glob
import os

import numpy as np


def read_rows(folder):
    """Return the two columns of all CSV files in a folder."""
    tables = [np.loadtxt(path, delimiter=",") for path in sorted(glob.glob(os.path.join(folder, "*.csv")))]
    return np.concatenate(tables).T
