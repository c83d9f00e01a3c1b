"""A user's program for TensorFlow's multi-worker strategy: all hosts add their numbers."""

import json
import os

import tensorflow as tf


def main() -> None:
    config = json.loads(os.environ["TF_CONFIG"])
    say(f"TF_CONFIG {json.dumps(config, sort_keys=True)}")
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    number = tf.constant(config["task"]["index"] + 1.0)
    total = strategy.reduce("SUM", strategy.run(lambda: number), axis=None)
    say(f"replicas {strategy.num_replicas_in_sync} total {float(total)}")


def say(text: str) -> None:
    # One piece, because both streams come together in one log.
    print(f"{text}\n", end="", flush=True)  # noqa: T201 - scripts talk by their log


if __name__ == "__main__":
    main()
