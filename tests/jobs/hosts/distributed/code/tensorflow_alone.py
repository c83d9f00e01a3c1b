"""One process that no mpirun has started."""

import smdistributed.dataparallel.tensorflow as sdp
import tensorflow as tf


def main() -> None:
    try:
        sdp.size()
    except ValueError as error:
        say(str(error))
    sdp.init()
    variable = tf.Variable([1.0, 3.0])
    sdp.broadcast_variables([variable], 0)
    with sdp.DistributedGradientTape(tf.GradientTape()) as tape:
        loss = tf.reduce_sum(variable * variable)
    gradient = tape.gradient(loss, variable).numpy()
    say(f"{sdp.rank()} of {sdp.size()}, {sdp.local_rank()} of {sdp.local_size()} here: {gradient}")


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - scripts talk by their log


if __name__ == "__main__":
    main()
