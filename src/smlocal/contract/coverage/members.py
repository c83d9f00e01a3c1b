"""What becomes of every leaf member of CreateTrainingJob. Data, not prose: the documents are made from it."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from smlocal.quick_dataclass import dataclass


class Support(StrEnum):
    """What smlocal does with a member."""

    EMULATED = "emulated"
    """It has the effect it has on the service."""
    RECORDED = "recorded"
    """It is kept and echoed, and has no effect here."""
    REFUSED = "refused"
    """A request that has it is not run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """One value that fares differently from its member."""

    support: Support
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One member."""

    support: Support
    note: str
    test: str | None = None
    """Of an emulated member: the test that fails without it."""
    values: Mapping[str, Value] = field(default_factory=dict)


_CASE = "tests/integration/test_cases.py::test_case"
_PLAN = "tests/unit/contract/test_effects.py"
_LIMITS = "tests/unit/planning/test_limits.py"
_METRICS = "tests/integration/job/test_metrics.py::test_a_metric_has_the"


def _emulated(note: str, test: str, values: Mapping[str, Value] | None = None) -> Row:
    return Row(support=Support.EMULATED, note=note, test=test, values=values or {})


def _recorded(note: str) -> Row:
    return Row(support=Support.RECORDED, note=note)


def _refused(note: str, values: Mapping[str, Value] | None = None) -> Row:
    return Row(support=Support.REFUSED, note=note, values=values or {})


def _works(note: str) -> Value:
    return Value(support=Support.EMULATED, note=note)


_MODES = {
    "File": _works("Every object is a file when the container starts."),
    "Pipe": _works("Objects are streamed through FIFOs, one per epoch."),
    "FastFile": _works("A read-only view; objects in S3 are fetched as they are read."),
}
_RULES = "Rules are not evaluated here."
_SERVERLESS = "Serverless jobs have no container to run."
_DATA = "tests/integration/job"
_FILE_SYSTEMS = f"{_DATA}/test_file_systems.py"
_PIPES = f"{_DATA}/test_pipe_jobs.py"
_GROUPS = f"{_DATA}/test_groups.py"
_PREFERENCES = "No instance is chosen here; use InstanceType and InstanceCount."
_CHECKPOINTS = "tests/integration/job/test_checkpoints.py"
_PUBLISHED = "tests/integration/job/test_published_mirrors.py"
_COLLECTED = "tests/integration/job/test_collectors.py::test_collected_while_the_job_runs"
_TENSORS = "Written to debughookconfig.json, for the hook in the container."
_PROFILER = "Written to profilerconfig.json; nothing is profiled."
_NETWORK = "Containers are on a network of this engine."
_EXPERIMENT = "No experiment is tracked here."
_MLFLOW = "No MLflow server is contacted."
_PACKAGE = "No model package is registered."
_PLACEMENT = "UltraServers are not available here."
_NO_ENCRYPTION = "Nothing is encrypted here."

TABLE: dict[str, Row] = {
    "TrainingJobName": _emulated(
        "Names the job, its ARN and its artifacts. Default: the file name and the time.",
        f"{_CASE}[environment]",
    ),
    "HyperParameters": _emulated("Written to hyperparameters.json.", f"{_CASE}[hello]"),
    "AlgorithmSpecification.TrainingImage": _emulated("The image to run.", f"{_CASE}[baked]"),
    "AlgorithmSpecification.AlgorithmName": _refused(
        "Algorithm resources exist in an AWS account; give their image as TrainingImage."
    ),
    "AlgorithmSpecification.TrainingInputMode": _emulated(
        "How channels without an InputMode of their own are delivered.", f"{_CASE}[mode-of-the-job]", _MODES
    ),
    "AlgorithmSpecification.MetricDefinitions[].Name": _emulated(
        "Names a metric in FinalMetricDataList; also written to metric-definition-regex.json.",
        f"{_METRICS}_name_of_its_definition",
    ),
    "AlgorithmSpecification.MetricDefinitions[].Regex": _emulated(
        "Searched in every line of the log; also written to metric-definition-regex.json.",
        f"{_METRICS}_last_value_that_its_regex_found",
    ),
    "AlgorithmSpecification.EnableSageMakerMetricsTimeSeries": _recorded("No time series is created."),
    "AlgorithmSpecification.ContainerEntrypoint[]": _emulated(
        "Replaces the image's ENTRYPOINT.", f"{_CASE}[command-entrypoint]"
    ),
    "AlgorithmSpecification.ContainerArguments[]": _emulated(
        "Replaces the argument train.", f"{_CASE}[command-arguments]"
    ),
    "AlgorithmSpecification.TrainingImageConfig.TrainingRepositoryAccessMode": _recorded(
        "The engine of this machine pulls the image with its own settings."
    ),
    (
        "AlgorithmSpecification.TrainingImageConfig.TrainingRepositoryAuthConfig"
        ".TrainingRepositoryCredentialsProviderArn"
    ): _recorded("No function is called; the engine's own login is used."),
    "RoleArn": _recorded(
        "Optional. Sets the account in the job's ARN. With Local.Credentials: role it is assumed for the "
        "containers; S3 is read and written with the credentials of this machine."
    ),
    "InputDataConfig[].ChannelName": _emulated(
        "The channel's folder below /opt/ml/input/data.", f"{_CASE}[two-channels]"
    ),
    "InputDataConfig[].DataSource.S3DataSource.S3DataType": _emulated(
        "What S3Uri names.",
        f"{_CASE}[channel-manifest]",
        {
            "S3Prefix": _works("Every object whose key begins with the prefix."),
            "Converse": _works("Read as S3Prefix."),
            "ManifestFile": _works("The objects listed in a manifest."),
            "AugmentedManifestFile": _works(
                "The values in the lines of a manifest, or the objects they name; in Pipe mode."
            ),
        },
    ),
    "InputDataConfig[].DataSource.S3DataSource.S3Uri": _emulated(
        "An s3:// URI, read with the credentials of this machine or from the folder that Local.Sources names; "
        "or a local path or file:// URI.",
        f"{_CASE}[channel-mapped]",
    ),
    "InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType": _emulated(
        "Which objects each host gets.",
        f"{_CASE}[two-hosts-sharded]",
        {
            "FullyReplicated": _works("Every host gets all of them."),
            "ShardedByS3Key": _works("Objects are distributed over the hosts in listing order."),
        },
    ),
    "InputDataConfig[].DataSource.S3DataSource.AttributeNames[]": _emulated(
        "Which attributes of each line of an augmented manifest are sent, in this order.",
        f"{_PIPES}::test_an_augmented_manifest",
    ),
    "InputDataConfig[].DataSource.S3DataSource.InstanceGroupNames[]": _emulated(
        "Only hosts of these groups have the channel.", f"{_GROUPS}::test_a_channel_of_one_group"
    ),
    "InputDataConfig[].DataSource.S3DataSource.ModelAccessConfig.AcceptEula": _recorded(
        "No model that requires it is downloaded."
    ),
    "InputDataConfig[].DataSource.S3DataSource.HubAccessConfig.HubContentArn": _refused(
        "Content of a hub cannot be fetched here."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemId": _emulated(
        "The folder that Local.Sources maps this id to.", f"{_FILE_SYSTEMS}::test_a_file_system_is_mounted_in_place"
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemAccessMode": _emulated(
        "Whether the container may write there; what it writes stays.", f"{_FILE_SYSTEMS}::test_only_rw_can_be_written"
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemType": _recorded(
        "EFS or FSxLustre: a container cannot tell the difference."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.DirectoryPath": _emulated(
        "A folder below the one that Local.Sources names.", f"{_FILE_SYSTEMS}::test_a_file_system_is_mounted_in_place"
    ),
    "InputDataConfig[].DataSource.DatasetSource.DatasetArn": _refused("Data sets of a hub cannot be fetched here."),
    "InputDataConfig[].ContentType": _emulated("Written to inputdataconfig.json.", f"{_CASE}[two-channels]"),
    "InputDataConfig[].CompressionType": _emulated(
        "Whether objects are decompressed during delivery.",
        f"{_PIPES}::test_gzip",
        {
            "None": _works("Objects are passed on unchanged."),
            "Gzip": _works("Objects are decompressed on their way into the FIFO; in Pipe mode."),
        },
    ),
    "InputDataConfig[].RecordWrapperType": _emulated(
        "Whether objects are wrapped as RecordIO; written to inputdataconfig.json.",
        f"{_PIPES}::test_record_io",
        {
            "None": _works("Objects are passed on unchanged."),
            "RecordIO": _works("Each object is one record; in Pipe mode."),
        },
    ),
    "InputDataConfig[].InputMode": _emulated(
        "How this channel is delivered.", f"{_PLAN}::test_input_mode_of_a_channel", _MODES
    ),
    "InputDataConfig[].ShuffleConfig.Seed": _emulated(
        "Pipe mode: another order of objects, or lines, in every epoch, the same for the same seed; the service's own "
        "permutation is not known.",
        f"{_PIPES}::test_shuffled_epochs",
    ),
    "OutputDataConfig.KmsKeyId": _emulated(
        "Encrypts everything that is published to S3. Nothing is encrypted on this machine.",
        f"{_PUBLISHED}::test_everything_that_is_sent_is_encrypted",
    ),
    "OutputDataConfig.S3OutputPath": _emulated(
        "A local path is where artifacts go. For an s3:// URI they go to Local.Output.", f"{_CASE}[hello]"
    ),
    "OutputDataConfig.CompressionType": _emulated(
        "Whether the model is packed.",
        f"{_CASE}[compression-none]",
        {"GZIP": _works("Packed as model.tar.gz and output.tar.gz."), "NONE": _works("Left as plain files.")},
    ),
    "ResourceConfig.InstanceType": _emulated(
        "Decides how many GPUs and Neuron devices a host gets; written to resourceconfig.json; with "
        "Local.EnforceInstanceLimits CPU and memory are limited to those of the type.",
        f"{_CASE}[config-sizes]",
    ),
    "ResourceConfig.InstanceCount": _emulated("The number of hosts, algo-1 to algo-N.", f"{_CASE}[two-hosts]"),
    "ResourceConfig.VolumeSizeInGB": _emulated(
        "With Local.EnforceInstanceLimits the size of a disk for data, model and output; without it only recorded.",
        f"{_LIMITS}::test_the_volume_holds_the_data_and_what_is_written",
    ),
    "ResourceConfig.VolumeKmsKeyId": _recorded(_NO_ENCRYPTION),
    "ResourceConfig.KeepAlivePeriodInSeconds": _recorded("There are no warm pools here."),
    "ResourceConfig.InstanceGroups[].InstanceType": _emulated(
        "As ResourceConfig.InstanceType, for the hosts of this group.", f"{_GROUPS}::test_the_hosts_of_groups"
    ),
    "ResourceConfig.InstanceGroups[].InstanceCount": _emulated(
        "The number of hosts of this group.", f"{_GROUPS}::test_the_hosts_of_groups"
    ),
    "ResourceConfig.InstanceGroups[].InstanceGroupName": _emulated(
        "Written to resourceconfig.json; decides which channels a host has.", f"{_GROUPS}::test_the_hosts_of_groups"
    ),
    "ResourceConfig.TrainingPlanArn": _recorded("No capacity is reserved here."),
    "ResourceConfig.InstancePlacementConfig.EnableMultipleJobs": _recorded(_PLACEMENT),
    "ResourceConfig.InstancePlacementConfig.PlacementSpecifications[].UltraServerId": _recorded(_PLACEMENT),
    "ResourceConfig.InstancePlacementConfig.PlacementSpecifications[].InstanceCount": _recorded(_PLACEMENT),
    "ResourceConfig.InstancePreferences[].InstanceType": _refused(_PREFERENCES),
    "ResourceConfig.InstancePreferences[].InstanceCount": _refused(_PREFERENCES),
    "ResourceConfig.InstancePreferences[].TrainingPlanArns[]": _refused(_PREFERENCES),
    "ResourceConfig.SelectedInstanceType": _refused("Read-only: the service does not accept it in a request."),
    "ResourceConfig.SelectedInstanceCount": _refused("Read-only: the service does not accept it in a request."),
    "VpcConfig.SecurityGroupIds[]": _recorded(_NETWORK),
    "VpcConfig.Subnets[]": _recorded(_NETWORK),
    "StoppingCondition.MaxRuntimeInSeconds": _emulated(
        "Stops the job with SIGTERM after this time; default: 86400.", f"{_CASE}[max-runtime]"
    ),
    "StoppingCondition.MaxWaitTimeInSeconds": _emulated(
        "Counted from the job's creation, over all its attempts.",
        "tests/integration/life/test_spot.py::test_max_wait_stops_the_job",
    ),
    "StoppingCondition.MaxPendingTimeInSeconds": _recorded("A job does not wait for capacity here."),
    "Tags[].Key": _recorded("DescribeTrainingJob does not return tags; they are shown under Local."),
    "Tags[].Value": _recorded("DescribeTrainingJob does not return tags; they are shown under Local."),
    "EnableNetworkIsolation": _emulated(
        "Whether containers can reach anything but each other.",
        "tests/integration/job/test_isolation.py::test_an_isolated_host_reaches_nothing",
        {
            "false": _works("Containers have the network access that the engine gives them."),
            "true": _works("Containers reach only each other: no other network, not this machine, no DNS."),
        },
    ),
    "EnableInterContainerTrafficEncryption": _recorded(_NO_ENCRYPTION),
    "EnableManagedSpotTraining": _emulated(
        "Interruptions come from smlocal interrupt or Local.Faults: SIGTERM, then the job starts again.",
        "tests/integration/life/test_spot.py::test_an_interruption_restarts_the_job_with_empty_folders",
    ),
    "CheckpointConfig.S3Uri": _emulated(
        "A local path or file:// URI, or an s3:// URI that Local.Sources maps to a folder: restored at the start, "
        "mirrored while the job runs, saved at the end. Any other s3:// URI is treated in the same way when publishing "
        "is on; else it is downloaded once, and checkpoints are saved in the job's output folder.",
        f"{_CHECKPOINTS}::test_restored_changed_and_saved",
    ),
    "CheckpointConfig.LocalPath": _emulated(
        "The folder in the container that holds the checkpoints; written to checkpointconfig.json.",
        f"{_CHECKPOINTS}::test_restored_changed_and_saved",
    ),
    "DebugHookConfig.LocalPath": _emulated(
        "The folder in the container whose files are mirrored; empty at the start.", _COLLECTED
    ),
    "DebugHookConfig.S3OutputPath": _emulated(
        "A local path, an s3:// URI that Local.Sources maps, or any when publishing is on: files are mirrored there "
        "while the job runs; else they go to the job's output folder.",
        _COLLECTED,
    ),
    "DebugHookConfig.HookParameters": _recorded(_TENSORS),
    "DebugHookConfig.CollectionConfigurations[].CollectionName": _recorded(_TENSORS),
    "DebugHookConfig.CollectionConfigurations[].CollectionParameters": _recorded(_TENSORS),
    "DebugRuleConfigurations[].RuleConfigurationName": _recorded(_RULES),
    "DebugRuleConfigurations[].LocalPath": _recorded(_RULES),
    "DebugRuleConfigurations[].S3OutputPath": _recorded(_RULES),
    "DebugRuleConfigurations[].RuleEvaluatorImage": _recorded(_RULES),
    "DebugRuleConfigurations[].InstanceType": _recorded(_RULES),
    "DebugRuleConfigurations[].VolumeSizeInGB": _recorded(_RULES),
    "DebugRuleConfigurations[].RuleParameters": _recorded(_RULES),
    "TensorBoardOutputConfig.LocalPath": _emulated(
        "The folder in the container whose files are mirrored; empty at the start.", _COLLECTED
    ),
    "TensorBoardOutputConfig.S3OutputPath": _emulated(
        "A local path, an s3:// URI that Local.Sources maps, or any when publishing is on: files are mirrored there "
        "while the job runs; else they go to the job's output folder.",
        _COLLECTED,
    ),
    "ExperimentConfig.ExperimentName": _recorded(_EXPERIMENT),
    "ExperimentConfig.TrialName": _recorded(_EXPERIMENT),
    "ExperimentConfig.TrialComponentDisplayName": _recorded(_EXPERIMENT),
    "ExperimentConfig.RunName": _recorded(_EXPERIMENT),
    "ProfilerConfig.S3OutputPath": _recorded(_PROFILER),
    "ProfilerConfig.ProfilingIntervalInMilliseconds": _recorded(_PROFILER),
    "ProfilerConfig.ProfilingParameters": _recorded(_PROFILER),
    "ProfilerConfig.DisableProfiler": _recorded(_PROFILER),
    "ProfilerRuleConfigurations[].RuleConfigurationName": _recorded(_RULES),
    "ProfilerRuleConfigurations[].LocalPath": _recorded(_RULES),
    "ProfilerRuleConfigurations[].S3OutputPath": _recorded(_RULES),
    "ProfilerRuleConfigurations[].RuleEvaluatorImage": _recorded(_RULES),
    "ProfilerRuleConfigurations[].InstanceType": _recorded(_RULES),
    "ProfilerRuleConfigurations[].VolumeSizeInGB": _recorded(_RULES),
    "ProfilerRuleConfigurations[].RuleParameters": _recorded(_RULES),
    "Environment": _emulated("Environment variables of every container.", f"{_CASE}[environment]"),
    "RetryStrategy.MaximumRetryAttempts": _emulated(
        "Only an InternalServerError is tried again: a lost engine, or one simulated by Local.Faults.",
        "tests/integration/life/test_spot.py::test_a_retry_follows_an_internal_error",
    ),
    "RemoteDebugConfig.EnableRemoteDebug": _recorded("Systems Manager is not involved; use docker exec."),
    "InfraCheckConfig.EnableInfraCheck": _recorded("The machine is not checked."),
    "SessionChainingConfig.EnableSessionTagChaining": _recorded(
        "No session is created. DescribeTrainingJob does not return it, so it is shown under Local."
    ),
    "ServerlessJobConfig.BaseModelArn": _refused(_SERVERLESS),
    "ServerlessJobConfig.AcceptEula": _refused(_SERVERLESS),
    "ServerlessJobConfig.JobType": _refused(_SERVERLESS),
    "ServerlessJobConfig.CustomizationTechnique": _refused(_SERVERLESS),
    "ServerlessJobConfig.Peft": _refused(_SERVERLESS),
    "ServerlessJobConfig.EvaluationType": _refused(_SERVERLESS),
    "ServerlessJobConfig.EvaluatorArn": _refused(_SERVERLESS),
    "ServerlessJobConfig.SequenceLength": _refused(_SERVERLESS),
    "MlflowConfig.MlflowResourceArn": _recorded(_MLFLOW),
    "MlflowConfig.MlflowExperimentName": _recorded(_MLFLOW),
    "MlflowConfig.MlflowRunName": _recorded(_MLFLOW),
    "ModelPackageConfig.ModelPackageGroupArn": _recorded(_PACKAGE),
    "ModelPackageConfig.SourceModelPackageArn": _recorded(_PACKAGE),
}
UNECHOED = ("Tags", "SessionChainingConfig")
"""Members of the request that DescribeTrainingJob's answer has no place for."""
