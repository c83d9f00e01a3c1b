#!/usr/bin/env python3
"""Adds numbers, in this process and in one that it starts."""

import os
import subprocess
import sys


def add(numbers: list[int]) -> int:
    total = 0
    for number in numbers:
        total += number
    return total


if __name__ == "__main__":
    print(f"total {add([1, 2, 3])}", flush=True)
    if "CHILD" in os.environ and "child" not in sys.argv:
        subprocess.run([sys.executable, __file__, "child"], check=True)
