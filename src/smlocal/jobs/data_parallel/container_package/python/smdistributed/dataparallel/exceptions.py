"""The exceptions of the library. SageMaker's training toolkit looks for their names in the output of a script."""


class SMDDPError(RuntimeError):
    """Something that the library cannot do."""


class SMDDPUnsupportedError(SMDDPError):
    """Something that the library refuses."""


class SMDDPBufferError(SMDDPError):
    """Ranks that reduce buffers of different sizes together."""
