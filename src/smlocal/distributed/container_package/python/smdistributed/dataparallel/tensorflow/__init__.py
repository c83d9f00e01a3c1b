"""The TensorFlow API of the library, which has no stand-in."""

raise ImportError(
    "smlocal has no stand-in for smdistributed.dataparallel.tensorflow: use an image that contains the library, or "
    "tf.distribute.MultiWorkerMirroredStrategy, which SageMaker's toolkit configures "
    "(distribution={'multi_worker_mirrored_strategy': {'enabled': True}})"
)
