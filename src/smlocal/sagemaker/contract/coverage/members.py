"""The table of all leaf members of CreateTrainingJob. The table of coverage is made from it."""

from collections.abc import Mapping
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.contract.support import Support


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """One value of a member."""

    support: Support
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One member."""

    support: Support
    note: str
    values: Mapping[str, Value] = field(default_factory=dict)


def _emulated(note: str, values: Mapping[str, Value] | None = None) -> Row:
    return Row(support=Support.EMULATED, note=note, values=values or {})


def _recorded(note: str) -> Row:
    return Row(support=Support.RECORDED, note=note)


def _refused(note: str) -> Row:
    return Row(support=Support.REFUSED, note=note)


def _works(note: str) -> Value:
    return Value(support=Support.EMULATED, note=note)


_MODES = {
    "File": _works("Every object is a file when the container starts."),
    "Pipe": _works("Objects are streamed through FIFOs, one per epoch."),
    "FastFile": _works("A read-only view; objects in S3 are fetched as they are read."),
}
_RULES = "Evaluated beside the job, by a container for each rule."
_PROFILER_RULES = "Profiler rules are not evaluated here."
_SERVERLESS = "Serverless jobs have no container to run."
_PREFERENCES = "No instance is chosen here; use InstanceType and InstanceCount."
_TENSORS = "Written to debughookconfig.json, for the hook in the container."
_PROFILER = "Written to profilerconfig.json; nothing is profiled."
_NETWORK = "Containers are on a network of this engine."
_EXPERIMENT = "No experiment is tracked here."
_MLFLOW = "No MLflow server is contacted."
_PACKAGE = "No model package is registered."
_PLACEMENT = "UltraServers are not available here."
_NO_ENCRYPTION = "Nothing is encrypted here."

TABLE: dict[str, Row] = {
    "TrainingJobName": _emulated("Names the job, its ARN and its artifacts. Default: the file name and the time."),
    "HyperParameters": _emulated("Written to hyperparameters.json."),
    "AlgorithmSpecification.TrainingImage": _emulated("The image to run."),
    "AlgorithmSpecification.AlgorithmName": _refused(
        "Algorithm resources exist in an AWS account; give their image as TrainingImage."
    ),
    "AlgorithmSpecification.TrainingInputMode": _emulated(
        "How channels without an InputMode of their own are delivered.", _MODES
    ),
    "AlgorithmSpecification.MetricDefinitions[].Name": _emulated(
        "Names a metric in FinalMetricDataList; also written to metric-definition-regex.json."
    ),
    "AlgorithmSpecification.MetricDefinitions[].Regex": _emulated(
        "Searched in every line of the log; also written to metric-definition-regex.json."
    ),
    "AlgorithmSpecification.EnableSageMakerMetricsTimeSeries": _recorded("No time series is created."),
    "AlgorithmSpecification.ContainerEntrypoint[]": _emulated("Replaces the image's ENTRYPOINT."),
    "AlgorithmSpecification.ContainerArguments[]": _emulated("Replaces the argument train."),
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
    "InputDataConfig[].ChannelName": _emulated("The channel's folder below /opt/ml/input/data."),
    "InputDataConfig[].DataSource.S3DataSource.S3DataType": _emulated(
        "What S3Uri names.",
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
        "or a local path or file:// URI."
    ),
    "InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType": _emulated(
        "Which objects each host gets.",
        {
            "FullyReplicated": _works("Every host gets all of them."),
            "ShardedByS3Key": _works("Objects are distributed over the hosts in listing order."),
        },
    ),
    "InputDataConfig[].DataSource.S3DataSource.AttributeNames[]": _emulated(
        "Which attributes of each line of an augmented manifest are sent, in this order."
    ),
    "InputDataConfig[].DataSource.S3DataSource.InstanceGroupNames[]": _emulated(
        "Only hosts of these groups have the channel."
    ),
    "InputDataConfig[].DataSource.S3DataSource.ModelAccessConfig.AcceptEula": _recorded(
        "No model that requires it is downloaded."
    ),
    "InputDataConfig[].DataSource.S3DataSource.HubAccessConfig.HubContentArn": _refused(
        "Content of a hub cannot be fetched here."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemId": _emulated(
        "The folder that Local.Sources maps this id to."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemAccessMode": _emulated(
        "Whether the container may write there; its changes are kept."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemType": _recorded(
        "EFS or FSxLustre: a container cannot tell the difference."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.DirectoryPath": _emulated(
        "A folder below the one that Local.Sources names."
    ),
    "InputDataConfig[].DataSource.DatasetSource.DatasetArn": _refused("Data sets of a hub cannot be fetched here."),
    "InputDataConfig[].ContentType": _emulated("Written to inputdataconfig.json."),
    "InputDataConfig[].CompressionType": _emulated(
        "Whether objects are decompressed during delivery.",
        {
            "None": _works("Objects are passed on unchanged."),
            "Gzip": _works("Objects are decompressed on their way into the FIFO; in Pipe mode."),
        },
    ),
    "InputDataConfig[].RecordWrapperType": _emulated(
        "Whether objects are wrapped as RecordIO; written to inputdataconfig.json.",
        {
            "None": _works("Objects are passed on unchanged."),
            "RecordIO": _works("Each object is one record; in Pipe mode."),
        },
    ),
    "InputDataConfig[].InputMode": _emulated("How this channel is delivered.", _MODES),
    "InputDataConfig[].ShuffleConfig.Seed": _emulated(
        "Pipe mode: another order of objects, or lines, in every epoch, the same for the same seed; the service's own "
        "permutation is not known."
    ),
    "OutputDataConfig.KmsKeyId": _emulated(
        "Encrypts everything that is published to S3. Nothing is encrypted on this machine."
    ),
    "OutputDataConfig.S3OutputPath": _emulated(
        "A local path is where artifacts go. For an s3:// URI they go to Local.Output."
    ),
    "OutputDataConfig.CompressionType": _emulated(
        "Whether the model is packed.",
        {"GZIP": _works("Packed as model.tar.gz and output.tar.gz."), "NONE": _works("Left as plain files.")},
    ),
    "ResourceConfig.InstanceType": _emulated(
        "Decides how many GPUs and Neuron devices a host gets; written to resourceconfig.json; with "
        "Local.EnforceInstanceLimits CPU and memory are limited to those of the type."
    ),
    "ResourceConfig.InstanceCount": _emulated("The number of hosts, algo-1 to algo-N."),
    "ResourceConfig.VolumeSizeInGB": _emulated(
        "With Local.EnforceInstanceLimits the size of a disk for data, model and output; without it only recorded."
    ),
    "ResourceConfig.VolumeKmsKeyId": _recorded(_NO_ENCRYPTION),
    "ResourceConfig.KeepAlivePeriodInSeconds": _recorded("There are no warm pools here."),
    "ResourceConfig.InstanceGroups[].InstanceType": _emulated(
        "As ResourceConfig.InstanceType, for the hosts of this group."
    ),
    "ResourceConfig.InstanceGroups[].InstanceCount": _emulated("The number of hosts of this group."),
    "ResourceConfig.InstanceGroups[].InstanceGroupName": _emulated(
        "Written to resourceconfig.json; decides which channels a host has."
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
    "StoppingCondition.MaxRuntimeInSeconds": _emulated("Stops the job with SIGTERM after this time; default: 86400."),
    "StoppingCondition.MaxWaitTimeInSeconds": _emulated("Counted from the job's creation, over all its attempts."),
    "StoppingCondition.MaxPendingTimeInSeconds": _recorded("A job that waits here waits until instances are free."),
    "Tags[].Key": _recorded("DescribeTrainingJob does not return tags; they are shown under Local."),
    "Tags[].Value": _recorded("DescribeTrainingJob does not return tags; they are shown under Local."),
    "EnableNetworkIsolation": _emulated(
        "Whether containers can reach anything but each other.",
        {
            "false": _works("Containers have the network access that the engine gives them."),
            "true": _works("Containers reach only each other: no other network, not this machine, no DNS."),
        },
    ),
    "EnableInterContainerTrafficEncryption": _recorded(_NO_ENCRYPTION),
    "EnableManagedSpotTraining": _emulated(
        "Interruptions come from smlocal interrupt or Local.Faults: SIGTERM, then the job restarts."
    ),
    "CheckpointConfig.S3Uri": _emulated(
        "A local path or file:// URI, or an s3:// URI that Local.Sources maps to a folder: restored at the start, "
        "mirrored while the job runs, saved at the end. Any other s3:// URI is treated in the same way when publishing "
        "is on; else it is downloaded once, and checkpoints are saved in the job's output folder."
    ),
    "CheckpointConfig.LocalPath": _emulated(
        "The folder in the container that holds the checkpoints; written to checkpointconfig.json."
    ),
    "DebugHookConfig.LocalPath": _emulated("The folder in the container whose files are mirrored; empty at the start."),
    "DebugHookConfig.S3OutputPath": _emulated(
        "A local path, an s3:// URI that Local.Sources maps, or any when publishing is on: files are mirrored there "
        "while the job runs; else they go to the job's output folder."
    ),
    "DebugHookConfig.HookParameters": _recorded(_TENSORS),
    "DebugHookConfig.CollectionConfigurations[].CollectionName": _recorded(_TENSORS),
    "DebugHookConfig.CollectionConfigurations[].CollectionParameters": _recorded(_TENSORS),
    "DebugRuleConfigurations[].RuleConfigurationName": _emulated(_RULES),
    "DebugRuleConfigurations[].LocalPath": _emulated(
        "The folder in which the rule writes; a status document there has its findings."
    ),
    "DebugRuleConfigurations[].S3OutputPath": _recorded("The output of a rule is not saved."),
    "DebugRuleConfigurations[].RuleEvaluatorImage": _emulated(
        "Run as given; the evaluator images of AWS are replaced by one of smlocal."
    ),
    "DebugRuleConfigurations[].InstanceType": _recorded("A rule has one processor and 2 GiB of memory."),
    "DebugRuleConfigurations[].VolumeSizeInGB": _recorded("A rule has one processor and 2 GiB of memory."),
    "DebugRuleConfigurations[].RuleParameters": _emulated(
        "Given to the rule as strings; source_s3_uri and other_trial_N may be local paths."
    ),
    "TensorBoardOutputConfig.LocalPath": _emulated(
        "The folder in the container whose files are mirrored; empty at the start."
    ),
    "TensorBoardOutputConfig.S3OutputPath": _emulated(
        "A local path, an s3:// URI that Local.Sources maps, or any when publishing is on: files are mirrored there "
        "while the job runs; else they go to the job's output folder."
    ),
    "ExperimentConfig.ExperimentName": _recorded(_EXPERIMENT),
    "ExperimentConfig.TrialName": _recorded(_EXPERIMENT),
    "ExperimentConfig.TrialComponentDisplayName": _recorded(_EXPERIMENT),
    "ExperimentConfig.RunName": _recorded(_EXPERIMENT),
    "ProfilerConfig.S3OutputPath": _recorded(_PROFILER),
    "ProfilerConfig.ProfilingIntervalInMilliseconds": _recorded(_PROFILER),
    "ProfilerConfig.ProfilingParameters": _recorded(_PROFILER),
    "ProfilerConfig.DisableProfiler": _recorded(_PROFILER),
    "ProfilerRuleConfigurations[].RuleConfigurationName": _recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].LocalPath": _recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].S3OutputPath": _recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].RuleEvaluatorImage": _recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].InstanceType": _recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].VolumeSizeInGB": _recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].RuleParameters": _recorded(_PROFILER_RULES),
    "Environment": _emulated("Environment variables of every container."),
    "RetryStrategy.MaximumRetryAttempts": _emulated(
        "Only an InternalServerError is retried: a lost engine, or one simulated by Local.Faults."
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
