"""Trains one model by all ranks, as AWS documents it for TensorFlow, and by one process on the global batch."""

import importlib
import time

import numpy as np
import smdistributed.dataparallel.tensorflow as sdp
import tensorflow as tf

SHARD, STEPS = 5, 4


def new_model(seed: int) -> tf.keras.Model:
    tf.keras.utils.set_random_seed(seed)
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
    model.build((None, 8))
    return model


def main() -> None:
    sdp.init()
    for gpu in tf.config.experimental.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    rank, size = sdp.rank(), sdp.size()
    together, alone = new_model(seed=1 + rank), new_model(seed=1)
    optimizers = [tf.keras.optimizers.Adam(0.01) for _ in range(2)]
    unused = tf.Variable(1.0)  # has no gradient

    @tf.function
    def step(inputs, wanted, first):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - a script
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((together(inputs, training=True) - wanted) ** 2)
        tape = sdp.DistributedGradientTape(tape)
        *gradients, nothing = tape.gradient(loss, [*together.trainable_variables, unused])
        assert nothing is None
        optimizers[0].apply_gradients(zip(gradients, together.trainable_variables, strict=True))
        if first:
            sdp.broadcast_variables(together.variables, root_rank=0)
            sdp.broadcast_variables(optimizers[0].variables, root_rank=0)
        return loss

    optimizers[0].build(together.trainable_variables)
    sdp.broadcast_variables(together.variables, root_rank=0)
    sdp.broadcast_variables(optimizers[0].variables, root_rank=0)
    losses = []
    for number in range(STEPS):
        numbers = np.random.default_rng(number)
        inputs, wanted = numbers.normal(size=(size * SHARD, 8)), numbers.normal(size=(size * SHARD, 1))
        inputs, wanted = inputs.astype("float32"), wanted.astype("float32")
        mine = slice(rank * SHARD, (rank + 1) * SHARD)
        losses.append(sdp.oob_allreduce(step(inputs[mine], wanted[mine], number == 0)))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((alone(inputs, training=True) - wanted) ** 2)
        gradients = tape.gradient(loss, alone.trainable_variables)
        optimizers[1].apply_gradients(zip(gradients, alone.trainable_variables, strict=True))
        losses[-1] = abs(float(losses[-1]) - float(loss)) < 1e-5
    own = tf.concat([tf.reshape(each, [-1]) for each in together.trainable_variables], 0)
    theirs = tf.concat([tf.reshape(each, [-1]) for each in alone.trainable_variables], 0)
    equal = bool(tf.reduce_all(own == sdp.broadcast(own, root_rank=size - 1)))
    near = bool(tf.reduce_max(tf.abs(own - theirs)) < 1e-5)
    say(
        f"rank {rank} of {size} local {sdp.local_rank()} of {sdp.local_size()}: equal {equal} alone {near} "
        f"losses {all(losses)}"
    )
    say(f"rank {rank} single: {' '.join(map(str, single(rank)))}")
    say(f"rank {rank} refused: {refused()}")
    if rank == 0:  # the others have ended, and for longer than TensorFlow waits for a sign of life
        time.sleep(12)
        together.save("/opt/ml/model/model.keras")
    sdp.shutdown()


def single(rank: int) -> "list[object]":
    """Collectives of single tensors, by their kinds and types."""
    number = tf.constant(float(rank + 1))
    found: list[object] = [float(sdp.allreduce(number, 0, 1, op=op)) for op in sdp.ReduceOp]
    found.append(float(sdp.allreduce(number, 0, 1, compression=sdp.Compression.fp16, op=None)))
    found.append(int(sdp.allreduce(tf.constant(2**40 + rank, tf.int64), 0, 1, op=sdp.ReduceOp.MAX)) - 2**40)
    rows = tf.IndexedSlices(tf.fill([1, 2], number), tf.constant([rank]), tf.constant([4, 2]))
    found.append(sdp.allreduce(rows, 0, 1, op=sdp.ReduceOp.SUM).numpy()[:, 0].tolist())
    kinds = ("uint8", "int8", "uint32", "uint64", "bfloat16", "bool", "float64")
    same = [sdp.broadcast(tf.cast([rank, 1], kind), 1) for kind in kinds]
    found.append([each.dtype.name for each in same] == [*kinds])
    found.append(all(tf.cast(each, "int32").numpy().tolist() == [1, 1] for each in same))
    found.append(sdp.broadcast(tf.zeros([0, 3]), 0).shape.as_list())
    found.append(float(sdp.overlap(number)) - rank)
    variable = tf.Variable(float(rank))
    optimizer = sdp.DistributedOptimizer(tf.compat.v1.train.GradientDescentOptimizer(1.0))
    optimizer.minimize(lambda: variable * (rank + 1.0))
    found.append(float(variable) - rank)
    return found


def refused() -> str:
    tries = (
        sdp.init,
        lambda: sdp.oob_allreduce(1.0, op=sdp.ReduceOp.SUM),
        lambda: sdp.DistributedGradientTape(tf.GradientTape(), sparse_as_dense=True),
        lambda: sdp.DistributedGradientTape(tf.GradientTape(), op=sdp.ReduceOp.SUM),
        lambda: sdp.DistributedOptimizer(tf.compat.v1.train.GradientDescentOptimizer(1.0), device_dense="/cpu:0"),
        lambda: sdp.DistributedOptimizer(tf.keras.optimizers.Adam()),
        lambda: sdp.broadcast_global_variables(0),
        lambda: sdp.BroadcastGlobalVariablesHook(0),
        lambda: sdp.broadcast(tf.constant("a"), 0),
        lambda: sdp.broadcast(1.0, 9),
        lambda: importlib.import_module("smdistributed.dataparallel.tensorflow.keras"),
    )
    names = []
    for each in tries:
        try:
            each()
            names.append("nothing")
        except (RuntimeError, ValueError, ImportError) as error:
            names.append(type(error).__name__)
    return " ".join(names)


def say(text: str) -> None:
    # One piece, because the lines of all processes come together in one log.
    print(f"{text}\n", end="", flush=True)  # noqa: T201 - scripts talk by their log


if __name__ == "__main__":
    main()
