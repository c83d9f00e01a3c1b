"""Names that some releases had for Keras, which AWS never documented. The stand-in refuses it."""

raise ImportError(
    "smlocal has no stand-in for smdistributed.dataparallel.tensorflow.keras, which AWS does not document: use "
    "DistributedGradientTape and broadcast_variables of smdistributed.dataparallel.tensorflow"
)
