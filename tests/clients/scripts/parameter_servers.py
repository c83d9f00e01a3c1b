"""A user's program for TensorFlow's parameter servers: a variable on each server, to which all hosts add."""

import json
import os
import time
from collections.abc import Callable

import tensorflow as tf

v1 = tf.compat.v1


def main() -> None:
    v1.disable_eager_execution()
    config = json.loads(os.environ["TF_CONFIG"])
    say(f"TF_CONFIG {json.dumps(config, sort_keys=True)}")
    cluster, task = config["cluster"], config["task"]
    hosts = len(cluster["master"]) + len(cluster["worker"])
    first = task["type"] == "master"
    server = tf.distribute.Server(cluster, job_name=task["type"], task_index=task["index"])
    totals = [variable(f"total_{index}", on=index) for index in range(len(cluster["ps"]))]
    ready = variable("ready", on=0)
    add = [total.assign_add(10.0**index) for index, total in enumerate(totals)]
    with v1.Session(server.target) as session:
        missing = v1.report_uninitialized_variables()
        if first:
            session.run(v1.global_variables_initializer())
        wait(lambda: session.run(missing).size == 0)
        session.run(add)
        wait(lambda: session.run(totals[0]) == hosts)
        wait(lambda: session.run(totals[-1]) == hosts * 10 ** (hosts - 1))
        say(f"totals {[float(each) for each in session.run(totals)]}")
        # The first host's server ends with its script, so that one is the last to end.
        if not first:
            session.run(ready.assign_add(1.0))
        else:
            wait(lambda: session.run(ready) == hosts - 1)


def variable(name: str, *, on: int) -> "tf.Variable":
    with tf.device(f"/job:ps/task:{on}"):
        return v1.get_variable(name, shape=[], initializer=v1.zeros_initializer(), use_resource=True)


def wait(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.1)


def say(text: str) -> None:
    # One piece, because both streams come together in one log.
    print(f"{text}\n", end="", flush=True)  # noqa: T201 - scripts talk by their log


if __name__ == "__main__":
    main()
