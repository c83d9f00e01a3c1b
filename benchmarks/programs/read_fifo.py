"""Read a FIFO to its end in a container, and print the seconds: the variables FIFO and EXPECTED, a number of bytes."""

import os
import time

name, expected = os.environ["FIFO"], int(os.environ["EXPECTED"])
buffer = bytearray(1 << 20)
began = time.perf_counter()
fifo = os.open(name, os.O_RDONLY)
count = 0
while more := os.readv(fifo, [buffer]):
    count += more
print(time.perf_counter() - began)
assert count == expected, count
