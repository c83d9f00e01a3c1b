"""One class per cause of trouble: its sentence, what to do about it, a stable id and the exit code."""

from collections.abc import Sequence
from typing import ClassVar


class SmlocalError(Exception):
    """What a user can cause or meet; the faces print it, never a traceback."""

    id: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1

    def __init__(self, sentence: str, *, details: Sequence[str] = (), remedy: Sequence[str] = ()) -> None:
        """Keep the sentence, the lines that show where, and the lines that say what to do."""
        super().__init__(sentence)
        self.sentence = sentence
        self.details = tuple(details)
        self.remedy = tuple(remedy)


class RequestRefusedError(SmlocalError):
    """The service would refuse this at creation, or the command line is wrong: no job is made."""

    exit_code = 2


class MachineNotReadyError(SmlocalError):
    """Something only this machine lacks, found before the start: no job is made."""

    exit_code = 3


class UsageRefusedError(RequestRefusedError):
    """The command line itself is wrong: an unknown command or flag, a missing argument."""

    id = "usage"


class ImageNameError(RequestRefusedError):
    """The image name is not valid."""

    id = "image-name"


class VariableUnsetError(RequestRefusedError):
    """A variable is to be taken from the caller's environment, which does not have it."""

    id = "variable-unset"


class EnvFileError(RequestRefusedError):
    """The file of `--env-file` cannot be read, or is no list of variables."""

    id = "env-file"


class JobFileMissingError(RequestRefusedError):
    """The job file cannot be opened."""

    id = "job-file-missing"


class JobFileSyntaxError(RequestRefusedError):
    """The job file is neither YAML nor JSON."""

    id = "job-file-syntax"


class RequestInvalidError(RequestRefusedError):
    """The request breaks constraints of the service; all of them are listed."""

    id = "request-invalid"

    def __init__(
        self, sentence: str, *, details: Sequence[str] = (), remedy: Sequence[str] = (), service_message: str = ""
    ) -> None:
        """Keep also what the service itself would answer, where it has words for it."""
        super().__init__(sentence, details=details, remedy=remedy)
        self.service_message = service_message


class FieldRefusedError(RequestRefusedError):
    """A member or value that smlocal neither emulates nor may ignore."""

    id = "field-refused"


class SourceMissingError(RequestRefusedError):
    """A channel names a local path that does not exist."""

    id = "source-missing"


class SourceUnreadableError(RequestRefusedError):
    """A channel names a local path that this user may not read."""

    id = "source-unreadable"


class SourceEmptyError(RequestRefusedError):
    """A channel's source holds no object; the service refuses that at creation."""

    id = "source-empty"


class SourceUnmappedError(RequestRefusedError):
    """A channel names an s3:// location that no entry of Local.Sources maps to a folder."""

    id = "source-unmapped"


class OutputUnusableError(RequestRefusedError):
    """The output path cannot hold artifacts, for example because it is a file."""

    id = "output-unusable"


class NameInUseError(RequestRefusedError):
    """A job of this name exists already (ResourceInUse on the service)."""

    id = "name-in-use"


class JobUnknownError(RequestRefusedError):
    """No job of this name was ever made here."""

    id = "job-unknown"


class JobNotFinishedError(RequestRefusedError):
    """The job still runs and this needs a finished one."""

    id = "job-not-finished"


class JobFinishedError(RequestRefusedError):
    """The job has ended and nothing about it changes any more."""

    id = "job-finished"


class WaitTimeoutError(SmlocalError, TimeoutError):
    """A job has not ended within the time that the caller gave."""

    id = "wait-timeout"
    exit_code = 124


class JobNotInterruptibleError(RequestRefusedError):
    """Only a job that trains on spot instances can be interrupted."""

    id = "job-not-interruptible"


class NothingToPublishError(RequestRefusedError):
    """A finished job has nothing that could be uploaded, or nowhere to upload it to."""

    id = "nothing-to-publish"


class NothingToPackError(RequestRefusedError):
    """A finished job has nothing that is still to be packed."""

    id = "nothing-to-pack"


class NotPackedError(RequestRefusedError):
    """A job that is to be replaced has the only copy of what its containers wrote."""

    id = "not-packed"


class CacheInUseError(RequestRefusedError):
    """Downloads that a running job reads cannot be removed."""

    id = "cache-in-use"


class EngineUnreachableError(MachineNotReadyError):
    """No container engine answers."""

    id = "engine-unreachable"


class EngineContextError(EngineUnreachableError):
    """A Docker context does not exist or cannot be read."""

    id = "engine-context"


class EngineTlsError(EngineUnreachableError):
    """The TLS files for the engine are missing or invalid."""

    id = "engine-tls"


class EngineForbiddenError(MachineNotReadyError):
    """The engine's socket is there but this user may not use it."""

    id = "engine-forbidden"


class JobNotAdoptedError(MachineNotReadyError):
    """The engine does not say what has become of a job whose supervisor is gone: nothing is decided about the job."""

    id = "job-not-adopted"


class JobLeftoversError(MachineNotReadyError):
    """A job that has ended may have left containers on an engine that does not answer."""

    id = "job-leftovers"


class EngineRemoteError(MachineNotReadyError):
    """The engine cannot mount a folder of this machine, or is reached in a way that smlocal does not know."""

    id = "engine-remote"


class RegionNameError(MachineNotReadyError):
    """The environment or the AWS profile names a region that cannot be one."""

    id = "region-name"


class ImageMissingError(MachineNotReadyError):
    """The image is not here and pulling is off."""

    id = "image-missing"


class RegistryUnreachableError(MachineNotReadyError):
    """The registry of a missing image does not answer."""

    id = "registry-unreachable"


class CredentialsMissingError(MachineNotReadyError):
    """AWS credentials are needed (an ECR image, objects in S3) and none work."""

    id = "credentials-missing"


class AwsConfigurationError(MachineNotReadyError):
    """The AWS configuration files or variables cannot be used."""

    id = "aws-configuration"


class ClockWrongError(MachineNotReadyError):
    """AWS refuses requests because of the time that they carry."""

    id = "clock-wrong"


class RoleNotAssumedError(MachineNotReadyError):
    """Whoever runs smlocal may not assume the job's role, which on the service SageMaker assumes."""

    id = "role-not-assumed"


class CredentialsUnreachableError(MachineNotReadyError):
    """This machine cannot answer at the address where containers look for credentials."""

    id = "credentials-unreachable"


class S3UnreachableError(MachineNotReadyError):
    """S3 does not answer at the endpoint that is configured."""

    id = "s3-unreachable"


class PipeUnreachableError(MachineNotReadyError):
    """A Pipe channel cannot reach a container of this engine: FIFOs of this machine do not exist there."""

    id = "pipe-unreachable"


class ImageArchitectureError(MachineNotReadyError):
    """The image is built for another CPU than the engine runs on."""

    id = "image-architecture"


class TooManyHostsError(MachineNotReadyError):
    """More hosts than this machine is to play at once, or than can be planned at all."""

    id = "too-many-hosts"


class NetworkRangeError(MachineNotReadyError):
    """The range that the job's network is taken from has no room for it."""

    id = "network-range"


class GpuUnavailableError(MachineNotReadyError):
    """The instance type has GPUs and the engine can give none."""

    id = "gpu-unavailable"


class NeuronUnavailableError(MachineNotReadyError):
    """The instance type has Neuron devices (Trainium, Inferentia) and they are not here."""

    id = "neuron-unavailable"


class GpuUnknownError(MachineNotReadyError):
    """A GPU was asked for by an id that this machine does not have."""

    id = "gpu-unknown"


class LimitUnusableError(MachineNotReadyError):
    """A limit of `Local` is above what this machine has."""

    id = "limit-unusable"


class HomeUnusableError(MachineNotReadyError):
    """The folder smlocal remembers jobs in cannot be used: full, read-only, not ours."""

    id = "home-unusable"


class WorkingDirectoryError(MachineNotReadyError):
    """The folder that the command was called in has been deleted."""

    id = "working-directory"


class StandardOutputError(SmlocalError):
    """Standard output cannot be written, for another reason than that its reader is gone."""

    id = "standard-output"


class JobUnrecordedError(SmlocalError):
    """A job was made and has ended, and its end cannot be written down."""

    id = "job-unrecorded"


class EngineError(SmlocalError):
    """The engine answered a request with an error of its own."""

    id = "engine-error"

    def __init__(self, message: str, *, status: int = 0, remedy: Sequence[str] = ()) -> None:
        """Keep the engine's own words and the HTTP status they came with."""
        super().__init__(message, remedy=remedy)
        self.status = status


class ImagePullError(EngineError):
    """The registry answered that it will not give the image: a Failed job, not a broken machine."""

    id = "image-pull"


class SubnetInUseError(EngineError):
    """Another network of the engine has some of the addresses that a new one was to have."""

    id = "subnet-in-use"


class EngineAnswerError(EngineError):
    """The engine answered something that is not in its API: too long, not JSON, or without a member it must have."""

    id = "engine-answer"


class EngineLostError(EngineError):
    """The engine stopped answering after it had answered before."""

    id = "engine-lost"
    exit_code = 3


class EngineTimeoutError(EngineLostError):
    """The engine is there, but one of its answers takes longer than it may."""

    id = "engine-timeout"


class ArtifactError(SmlocalError):
    """The artifacts of a job cannot be written; the sentence is the reason as the service words it."""

    id = "artifact-write"


class StagingError(SmlocalError):
    """A channel's data cannot be put in place; the sentence is the reason as the service words it."""

    id = "staging"
