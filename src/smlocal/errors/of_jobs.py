"""Errors about endpoints, tuning jobs, networks, names and shells."""

from smlocal.errors.base import MachineNotReadyError, RequestRefusedError, SmlocalError


class ModelMissingError(RequestRefusedError):
    """The model that is to be deployed is not there."""

    id = "model-missing"


class ModelPackageError(RequestRefusedError):
    """The model package is not approved, or does not say which image serves its model."""

    id = "model-package"


class ModelUnmappedError(RequestRefusedError):
    """The model that is to be deployed is in S3, and no folder stands for the bucket."""

    id = "model-unmapped"


class EnginesGoneError(MachineNotReadyError):
    """No engine is left that could run the job."""

    id = "engines-gone"


class EnginesTooSmallError(MachineNotReadyError):
    """More instances are wanted on one engine than may be in use there."""

    id = "engines-too-small"


class PortLabelMissingError(RequestRefusedError):
    """An image is to run beside others, and does not say that its program listens on the port that it is told."""

    id = "port-label-missing"


class DeployImageError(RequestRefusedError):
    """It is not known which image serves the model."""

    id = "deploy-image"


class EndpointUnreachableError(MachineNotReadyError):
    """The engine runs containers that this machine cannot reach."""

    id = "endpoint-unreachable"


class NotAnEndpointError(RequestRefusedError):
    """The job of that name is not an endpoint."""

    id = "not-an-endpoint"


class IsAnEndpointError(RequestRefusedError):
    """What is described is an endpoint, and a training job is wanted."""

    id = "is-an-endpoint"


class EndpointNotInServiceError(SmlocalError):
    """The endpoint does not answer: it is being created, or it has ended."""

    id = "endpoint-not-in-service"


class InvocationBodyError(RequestRefusedError):
    """What is to be sent to an endpoint cannot be read."""

    id = "invocation-body"


class InvocationFailedError(SmlocalError):
    """An endpoint has answered with an error."""

    id = "invocation-failed"


class IsolatedJobError(RequestRefusedError):
    """The job is isolated, and its settings give it a way in or out."""

    id = "isolated-job"


class HostNetworkError(RequestRefusedError):
    """The job is to be on the network of the engine's machine, and asks for what is not possible there."""

    id = "host-network"


class NetworkUnknownError(MachineNotReadyError):
    """The engine does not have a network that the job joins."""

    id = "network-unknown"


class OneHostError(MachineNotReadyError):
    """The job has several hosts, in a place whose containers are all on one."""

    id = "one-host"


class NotInPlaceError(MachineNotReadyError):
    """The job asks for something that the place does not let its engine do."""

    id = "not-in-studio"


class DebugPortError(MachineNotReadyError):
    """The port for the debugger cannot be used."""

    id = "debug-port"


class ContainerNotRunningError(RequestRefusedError):
    """A shell in a running job, whose container has not been started, or has ended."""

    id = "container-not-running"


class ShellNotAllowedError(MachineNotReadyError):
    """The place where smlocal runs starts no further process in a container, and makes no image of one."""

    id = "shell-not-allowed"


class ShellMissingError(RequestRefusedError):
    """The image has no shell that could be opened."""

    id = "shell-missing"


class CommandNotStartedError(RequestRefusedError):
    """The program that should run in the container is not there, or cannot be executed."""

    id = "command-not-started"


class WarmStartError(RequestRefusedError):
    """A tuning job cannot start from the parents that it names."""

    id = "warm-start"


class TuningLibraryError(MachineNotReadyError):
    """The library that chooses points for Bayesian tuning is not installed."""

    id = "tuning-library"


class SelectedStepsError(RequestRefusedError):
    """These steps of a pipeline cannot be run alone."""

    id = "selected-steps"


class IsAPipelineError(RequestRefusedError):
    """What is described is a pipeline, and a training job is wanted."""

    id = "is-a-pipeline"


class IsATuningJobError(RequestRefusedError):
    """What is described is a tuning job, and a training job is wanted."""

    id = "is-a-tuning-job"


class DiskTooSmallError(MachineNotReadyError):
    """What would be written is larger than the free space of its disk, which is known before."""

    id = "disk-too-small"


class NamesAlikeError(MachineNotReadyError):
    """Names of a job are one name on the disk of smlocal's home, which ignores case."""

    id = "names-alike"
