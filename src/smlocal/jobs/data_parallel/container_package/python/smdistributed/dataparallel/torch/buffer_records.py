"""How many bytes each server got, and when each buffer was ready and was reduced."""

import atexit
import threading
import time
from typing import Any, Dict, List

from ...smlocal_records import record

_MOST = 64
"""Buffers of an iteration that are recorded with their times."""
_SECONDS = 2.0
"""Between two writes of the record."""


class BufferRecords:
    """Counts of one rank, for all of the run and for each buffer of the last complete iteration."""

    def __init__(self, about: Dict[str, Any], ranks: int) -> None:
        """`about`: what is recorded of every process."""
        self._about = about
        self._ranks = ranks
        self._lock = threading.Lock()
        self._buffers = self._served = self._served_now = self._iterations = 0
        self._variables: List[int] = []
        self._began = self._written = 0.0
        self._current: List[Dict[str, Any]] = []
        self._last: Dict[str, Any] = {}
        self._write()
        atexit.register(self._finish)

    def watch(self, model: Any) -> None:
        """Count iterations by the forward passes of a model, and place its variables as a parameter server would."""
        self._variables = [0] * self._ranks
        for number, parameter in enumerate(each for each in model.parameters() if each.requires_grad):
            self._variables[number % self._ranks] += parameter.numel() * parameter.element_size()
        model.register_forward_pre_hook(lambda *_: self._begin_iteration())
        model.register_forward_hook(lambda *_: self._begin_backward())

    def add(self, size: int, part: int, *, ready: float, begin: float, end: float) -> None:
        """Count a buffer that was reduced."""
        with self._lock:
            self._buffers += 1
            self._served += part
            self._served_now += part
            if len(self._current) < _MOST:
                self._current.append({"Bytes": size, "Ready": ready, "Begin": begin, "End": end})

    def _begin_iteration(self) -> None:
        self._close_iteration()
        if time.monotonic() - self._written > _SECONDS:
            self._write()

    def _begin_backward(self) -> None:
        with self._lock:
            self._began = time.time()

    def _close_iteration(self) -> None:
        with self._lock:
            if self._began and self._current:
                self._iterations += 1
                self._last = {
                    "Began": self._began,
                    "ServedBytes": self._served_now,
                    "Buffers": self._current,
                }
            self._began, self._current, self._served_now = 0.0, [], 0

    def _finish(self) -> None:
        self._close_iteration()
        self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        with self._lock:
            counts = {
                "Buffers": self._buffers,
                "ServedBytes": self._served,
                "Iterations": self._iterations,
                "VariableBytes": self._variables,
                "LastIteration": self._last,
            }
        record({**self._about, **counts})
