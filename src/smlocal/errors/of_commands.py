"""Errors of `serve`, `exec`, `submit`, `tensors`, and of commands that open something outside of the terminal."""

from smlocal.errors.base import MachineNotReadyError, RequestRefusedError, SmlocalError


class PortUnusableError(MachineNotReadyError):
    """The endpoint cannot listen on its port: another program has it, or this user may not use it."""

    id = "port-unusable"


class EndpointKeyError(RequestRefusedError):
    """The environment has half of a key for the endpoint, or the endpoint is to be open where it must not be."""

    id = "endpoint-key"


class ServeMissingError(MachineNotReadyError):
    """The packages that the endpoint needs are not installed."""

    id = "serve-missing"


class ProgramUnusableError(RequestRefusedError):
    """The program of `smlocal exec` cannot be started."""

    id = "program-unusable"


class JobStarterError(MachineNotReadyError):
    """The process that starts submitted jobs cannot be started, or does not answer."""

    id = "job-starter"


class BrowserMissingError(MachineNotReadyError):
    """No browser can be opened for a person: none is installed, there is no screen, or a CI service runs this."""

    id = "browser-missing"


class DemoBaseMissingError(MachineNotReadyError):
    """There is no image from which the image of the demo can be built."""

    id = "demo-base-missing"


class UploadPrefixError(RequestRefusedError):
    """`smlocal submit` does not know where in S3 local data belongs, or the location is not valid."""

    id = "upload-prefix"


class UploadNameError(RequestRefusedError):
    """A local file has a name or path that an object of S3 cannot have."""

    id = "upload-name"


class UploadManifestError(RequestRefusedError):
    """A local manifest cannot be uploaded: it names local files, or is not valid."""

    id = "upload-manifest"


class UploadSourceChangedError(RequestRefusedError):
    """A local file changed between the moment it was read and the end of its upload."""

    id = "upload-changed"


class UploadFailedError(MachineNotReadyError):
    """S3 did not take an upload: no right to write, no such bucket, or a connection that broke for too long."""

    id = "upload-failed"


class ImageNotInEcrError(RequestRefusedError):
    """The service can pull images of Amazon ECR only."""

    id = "image-not-in-ecr"


class SubmitNotConfirmedError(RequestRefusedError):
    """A job that costs money was not confirmed."""

    id = "submit-not-confirmed"


class NoDebugHookError(RequestRefusedError):
    """A job that does not ask for it saves no tensors."""

    id = "no-debug-hook"


class TensorsMissingError(RequestRefusedError):
    """There are no tensors, or none of this name."""

    id = "tensors-missing"


class TensorsInS3Error(RequestRefusedError):
    """The job has published its tensors, and none are on this machine."""

    id = "tensors-in-s3"


class TensorStepError(RequestRefusedError):
    """No tensor was saved in this step."""

    id = "tensor-step"


class TensorPatternError(RequestRefusedError):
    """The pattern for names of tensors is not a regular expression."""

    id = "tensor-pattern"


class TensorsDamagedError(SmlocalError):
    """Some files with tensors are damaged. The others have been read."""

    id = "tensors-damaged"


class CallbackUnknownError(RequestRefusedError):
    """No step of a pipeline waits with this token."""

    id = "callback-unknown"


class CallbackAnswerError(RequestRefusedError):
    """The answer to a step of a pipeline has other outputs than the step."""

    id = "callback-answer"
