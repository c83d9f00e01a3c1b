"""A replica that notes in FOLDER when it begins and when it ends: at once by SIGTERM's way, or by SIGTERM itself."""

import os
import signal
import sys
import time


def note(name: str) -> None:
    with open(name, "a", encoding="ascii") as file:
        print(time.time_ns(), file=file)


def end(*_: object) -> None:
    note("ended")
    os._exit(143)


os.chdir(sys.argv[1])
signal.signal(signal.SIGTERM, end)
note("begun")
if os.path.exists("ended"):
    sys.exit()
if not os.path.exists("stay"):
    end()
while True:
    signal.pause()
