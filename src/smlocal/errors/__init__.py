"""Error classes, one per cause: sentence, remedy, stable id and exit code."""

from collections.abc import Sequence

from smlocal.errors.base import MachineNotReadyError as MachineNotReadyError
from smlocal.errors.base import RequestRefusedError as RequestRefusedError
from smlocal.errors.base import SmlocalError as SmlocalError
from smlocal.errors.of_the_service import IsAProcessingJobError as IsAProcessingJobError
from smlocal.errors.of_the_service import IsATransformJobError as IsATransformJobError
from smlocal.errors.of_the_service import LogFileError as LogFileError
from smlocal.errors.of_the_service import NotATrainingJobError as NotATrainingJobError
from smlocal.errors.of_the_service import PathInDescriptionError as PathInDescriptionError
from smlocal.errors.of_the_service import RegionMissingError as RegionMissingError
from smlocal.errors.of_the_service import ServiceForbiddenError as ServiceForbiddenError
from smlocal.errors.of_the_service import ServiceJobRunningError as ServiceJobRunningError
from smlocal.errors.of_the_service import ServiceJobUnknownError as ServiceJobUnknownError
from smlocal.errors.of_the_service import ServiceRefusedError as ServiceRefusedError
from smlocal.errors.of_the_service import ServiceUnreachableError as ServiceUnreachableError


class UsageRefusedError(RequestRefusedError):
    """The command line itself is wrong: an unknown command or flag, a missing argument."""

    id = "usage"


class KeywordInvalidError(RequestRefusedError):
    """A keyword of a Python call has a value of a type that it does not take."""

    id = "keyword-invalid"


class ImageNameError(RequestRefusedError):
    """The image name is not valid."""

    id = "image-name"


class VariableUnsetError(RequestRefusedError):
    """A variable should come from the caller's environment and is not set there."""

    id = "variable-unset"


class EnvFileError(RequestRefusedError):
    """The file of `--env-file` cannot be read, or is not valid."""

    id = "env-file"


class ConfigSyntaxError(RequestRefusedError):
    """The configuration file is not TOML."""

    id = "config-syntax"


class ConfigInvalidError(RequestRefusedError):
    """The configuration file has a key that no flag has, or a value that its flag does not take."""

    id = "config-invalid"


class ConfigUnreadableError(RequestRefusedError):
    """A configuration file, or a folder that may have one, may not be read."""

    id = "config-unreadable"


class NewFileError(RequestRefusedError):
    """A new file cannot be written for the user: there is one, or its folder cannot be written."""

    id = "new-file"


class CompletionFileError(RequestRefusedError):
    """A file with the completion of a shell cannot be changed."""

    id = "completion-file"


class InitSourceError(RequestRefusedError):
    """The argument of `smlocal init` is not an image, a folder with a Dockerfile or a file."""

    id = "init-source"


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
        """Also keep the service's own message, where it is known."""
        super().__init__(sentence, details=details, remedy=remedy)
        self.service_message = service_message


class RequestSkeletonError(RequestInvalidError):
    """The request is a skeleton of the AWS CLI, or one that was filled in only in part."""

    id = "request-skeleton"


class DocumentUnknownError(RequestRefusedError):
    """No kind of job has any of the document's keys."""

    id = "document-unknown"


class FieldRefusedError(RequestRefusedError):
    """A member or value that smlocal can neither emulate nor ignore."""

    id = "field-refused"


class SourceMissingError(RequestRefusedError):
    """A channel names a local path that does not exist."""

    id = "source-missing"


class PathNotAllowedError(RequestRefusedError):
    """A job whose paths are limited (`Local.AllowedPaths`, or a client of the endpoint) names another one."""

    id = "path-not-allowed"


class SourceUnreadableError(RequestRefusedError):
    """A channel names a local path that this user may not read."""

    id = "source-unreadable"


class SourceEmptyError(RequestRefusedError):
    """A channel's source is empty; the service refuses that at creation."""

    id = "source-empty"


class SourceUnmappedError(RequestRefusedError):
    """A channel names an s3:// location that no entry of Local.Sources maps to a folder."""

    id = "source-unmapped"


class ChannelUnknownError(RequestRefusedError):
    """A flag or keyword names a channel that is not in the request but similar to one that is."""

    id = "channel-unknown"


class OutputUnusableError(RequestRefusedError):
    """The output path cannot hold artifacts, for example because it is a file."""

    id = "output-unusable"


class NameInUseError(RequestRefusedError):
    """A job of this name exists already (ResourceInUse on the service)."""

    id = "name-in-use"


class InstanceLimitError(RequestRefusedError):
    """More instances would be in use than are allowed (ResourceLimitExceeded on the service)."""

    id = "instance-limit"


class JobUnknownError(RequestRefusedError):
    """No job of this name exists."""

    id = "job-unknown"


class JobNameAmbiguousError(RequestRefusedError):
    """Several jobs have names that begin with the given text."""

    id = "job-name-ambiguous"


class JobNotFinishedError(RequestRefusedError):
    """The job is still running, and the command needs a finished one."""

    id = "job-not-finished"


class JobFinishedError(RequestRefusedError):
    """The job has ended and can no longer change."""

    id = "job-finished"


class WaitTimeoutError(SmlocalError, TimeoutError):
    """A job has not ended within the time that the caller gave."""

    id = "wait-timeout"
    exit_code = 124


class JobNotInterruptibleError(RequestRefusedError):
    """Only a job that trains on spot instances can be interrupted."""

    id = "job-not-interruptible"


class HostUnknownError(RequestRefusedError):
    """The job has no host with this number or name."""

    id = "host-unknown"


class NothingToPublishError(RequestRefusedError):
    """A finished job has nothing that could be uploaded, or nowhere to upload it to."""

    id = "nothing-to-publish"


class NothingToPackError(RequestRefusedError):
    """A finished job has nothing left to pack."""

    id = "nothing-to-pack"


class NotPackedError(RequestRefusedError):
    """The job to be replaced holds the only copy of its output."""

    id = "not-packed"


class CheckRuleUnknownError(RequestRefusedError):
    """`smlocal check` has no rule with this id."""

    id = "check-rule-unknown"


class ConformanceDocumentError(RequestRefusedError):
    """Not a document of `smlocal conformance`, a damaged one, or one that has no job in common with another."""

    id = "conformance-document"


class DockerfileMissingError(RequestRefusedError):
    """The Dockerfile of `--dockerfile` or `--build` cannot be read."""

    id = "dockerfile-missing"


class BuildFailedError(RequestRefusedError):
    """The Dockerfile of `--build` does not give an image."""

    id = "build-failed"


class CacheInUseError(RequestRefusedError):
    """Downloads that a running job reads cannot be removed."""

    id = "cache-in-use"


class EngineUnreachableError(MachineNotReadyError):
    """No container engine answers."""

    id = "engine-unreachable"


class EngineContextError(EngineUnreachableError):
    """A Docker context does not exist or cannot be read."""

    id = "engine-context"


class EngineTwiceError(MachineNotReadyError):
    """Two of a job's engines are the same one."""

    id = "engine-twice"


class NotInSwarmError(MachineNotReadyError):
    """An engine of a job on several engines is in no swarm."""

    id = "not-in-swarm"


class SwarmsDifferError(MachineNotReadyError):
    """The engines of one job are in different swarms."""

    id = "swarms-differ"


class SwarmManagerError(MachineNotReadyError):
    """None of a job's engines can manage their swarm."""

    id = "swarm-manager"


class EngineTlsError(EngineUnreachableError):
    """The TLS files for the engine are missing or invalid."""

    id = "engine-tls"


class EngineForbiddenError(MachineNotReadyError):
    """The engine's socket is there but this user may not use it."""

    id = "engine-forbidden"


class JobNotAdoptedError(MachineNotReadyError):
    """The engine does not report the state of a job whose supervisor is gone. The job is left unchanged."""

    id = "job-not-adopted"


class JobNotAbandonedError(RequestRefusedError):
    """Only a job whose engine is gone and that has no supervisor is abandoned."""

    id = "job-not-abandoned"


class JobLeftoversError(MachineNotReadyError):
    """A job that has ended may have left containers on an engine that does not answer."""

    id = "job-leftovers"


class EngineRemoteError(MachineNotReadyError):
    """The engine cannot mount a folder of this machine, or its address is not supported."""

    id = "engine-remote"


class RegionNameError(MachineNotReadyError):
    """The region of the environment or the AWS profile is not valid."""

    id = "region-name"


class ImageMissingError(MachineNotReadyError):
    """The image is not available locally, and pulling is off."""

    id = "image-missing"


class ImageDiffersError(MachineNotReadyError):
    """The engines of one job have different images of the same name."""

    id = "image-differs"


class BuildUnavailableError(MachineNotReadyError):
    """The docker command, which builds images, is not installed."""

    id = "build-unavailable"


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
    """AWS refuses requests because the clock of this machine is wrong."""

    id = "clock-wrong"


class RoleNotAssumedError(MachineNotReadyError):
    """The user may not assume the job's role, which the service assumes itself."""

    id = "role-not-assumed"


class CredentialsUnreachableError(MachineNotReadyError):
    """This machine cannot serve credentials at the address that containers use."""

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
    """The job has more hosts than this machine may run at once, or than can be planned."""

    id = "too-many-hosts"


class NetworkRangeError(MachineNotReadyError):
    """The address range for job networks has no room for this job."""

    id = "network-range"


class InstancesUnavailableError(MachineNotReadyError):
    """There are no instances for the job, because `Local.Faults` says so."""

    id = "instances-unavailable"


class GpuUnavailableError(MachineNotReadyError):
    """The job needs GPUs that the engine cannot provide."""

    id = "gpu-unavailable"


class NeuronUnavailableError(MachineNotReadyError):
    """The instance type has Neuron devices (Trainium, Inferentia), and this machine does not."""

    id = "neuron-unavailable"


class GpuUnknownError(MachineNotReadyError):
    """A GPU was asked for by an id that this machine does not have."""

    id = "gpu-unknown"


class LimitUnusableError(MachineNotReadyError):
    """A limit of `Local` is above what this machine has."""

    id = "limit-unusable"


class EvaluatorImageError(MachineNotReadyError):
    """The image that evaluates debugger rules is not there and cannot be built."""

    id = "evaluator-image"


class HomeUnusableError(MachineNotReadyError):
    """The folder with the job records cannot be used: full, read-only, or owned by someone else."""

    id = "home-unusable"


class WorkingDirectoryError(MachineNotReadyError):
    """The folder that the command was called in has been deleted."""

    id = "working-directory"


class StandardOutputError(SmlocalError):
    """Standard output cannot be written, for a reason other than that its reader is gone."""

    id = "standard-output"


class JobUnrecordedError(SmlocalError):
    """A job was made and has ended, and its end cannot be written down."""

    id = "job-unrecorded"


class EarlierPlanError(SmlocalError):
    """A job was planned by another version of smlocal, and this one cannot continue, pack or publish it."""

    id = "earlier-plan"


class EngineError(SmlocalError):
    """The engine answered a request with an error of its own."""

    id = "engine-error"

    def __init__(self, message: str, *, status: int = 0, remedy: Sequence[str] = ()) -> None:
        """Keep the engine's message and the HTTP status."""
        super().__init__(message, remedy=remedy)
        self.status = status

    @property
    def is_of_runtime(self) -> bool:
        """True if the runtime did not start the program of a container: the image's fault, not the engine's."""
        return "OCI runtime" in self.sentence


class PlaceRefusedError(EngineError):
    """The place where smlocal runs does not let its engine do this."""

    id = "place-refused"


class ImagePullError(EngineError):
    """The registry refused to deliver the image: the job fails, as on the service."""

    id = "image-pull"


class ImageArchiveError(EngineError):
    """The engine does not deliver the files of an image, or not all of them."""

    id = "image-archive"


class SubnetInUseError(EngineError):
    """Another network of the engine uses addresses of a new network."""

    id = "subnet-in-use"


class NetworkAttachError(EngineError):
    """A swarm did not attach a container to its network in time."""

    id = "network-attach"


class NetworkGoneError(EngineError):
    """The network of a job was removed while a container was about to start."""

    id = "network-gone"


class EngineNameInUseError(EngineError):
    """The engine has, or is about to have, a container or network of this name."""

    id = "engine-name-in-use"


class EngineAnswerError(EngineError):
    """The engine's answer is not valid: too long, not JSON, or a required member is missing."""

    id = "engine-answer"


class EngineLostError(EngineError):
    """The engine stopped answering after it had answered before."""

    id = "engine-lost"
    exit_code = 3


class EngineTimeoutError(EngineLostError):
    """The engine is running, but an answer took too long."""

    id = "engine-timeout"


class ArtifactError(SmlocalError):
    """The artifacts of a job cannot be written. The sentence is the reason that the service gives."""

    id = "artifact-write"


class StagingError(SmlocalError):
    """A channel's data cannot be delivered. The sentence is the platform's message."""

    id = "staging"


class StreamNotStartedError(StagingError):
    """The process that streams a channel could not be started: a fault of this machine."""

    id = "stream-not-started"
