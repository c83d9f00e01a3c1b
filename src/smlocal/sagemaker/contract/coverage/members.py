"""The table of all leaf members of CreateTrainingJob."""

from typing import Final

from smlocal.terms.member_table import MemberTable, Row, emulated, recorded, refused, works

_MODES = {
    "File": works("Every object is a file when the container starts."),
    "Pipe": works("Objects are streamed through FIFOs, one per epoch."),
    "FastFile": works("A read-only view; objects in S3 are fetched as they are read."),
}
_RULES = "Evaluated beside the job, by a container for each rule."
_PROFILER_RULES = "Profiler rules are not evaluated here."
_SERVERLESS = "Serverless jobs have no container to run."
_PREFERENCES = (
    "The first is taken: this machine always has capacity, unless Local.Faults (CapacityError) takes it away."
)
_TENSORS = "Written to debughookconfig.json, for the hook in the container."
_PROFILER = "Written to profilerconfig.json; nothing is profiled."
_NETWORK = "Containers are on a network of this engine."
_EXPERIMENT = "No experiment is tracked here."
_MLFLOW = "No MLflow server is contacted."
_PACKAGE = "No model package is registered."
_PLACEMENT = "UltraServers are not available here."
_NO_ENCRYPTION = "Nothing is encrypted here."

TABLE: dict[str, Row] = {
    "TrainingJobName": emulated("Names the job, its ARN and its artifacts. Default: the file name and the time."),
    "HyperParameters": emulated("Written to hyperparameters.json."),
    "AlgorithmSpecification.TrainingImage": emulated("The image to run."),
    "AlgorithmSpecification.AlgorithmName": refused(
        "Algorithm resources exist in an AWS account; give their image as TrainingImage."
    ),
    "AlgorithmSpecification.TrainingInputMode": emulated(
        "How channels without an InputMode of their own are delivered.", _MODES
    ),
    "AlgorithmSpecification.MetricDefinitions[].Name": emulated(
        "Names a metric in FinalMetricDataList; also written to metric-definition-regex.json."
    ),
    "AlgorithmSpecification.MetricDefinitions[].Regex": emulated(
        "Searched in every line of the log; also written to metric-definition-regex.json."
    ),
    "AlgorithmSpecification.EnableSageMakerMetricsTimeSeries": recorded("No time series is created."),
    "AlgorithmSpecification.ContainerEntrypoint[]": emulated("Replaces the image's ENTRYPOINT."),
    "AlgorithmSpecification.ContainerArguments[]": emulated("Replaces the argument train."),
    "AlgorithmSpecification.TrainingImageConfig.TrainingRepositoryAccessMode": recorded(
        "The engine of this machine pulls the image with its own settings."
    ),
    (
        "AlgorithmSpecification.TrainingImageConfig.TrainingRepositoryAuthConfig"
        ".TrainingRepositoryCredentialsProviderArn"
    ): recorded("No function is called; the engine's own login is used."),
    "RoleArn": recorded(
        "Optional. Sets the account in the job's ARN. With Local.Credentials: role it is assumed for the "
        "containers; S3 is read and written with the credentials of this machine."
    ),
    "InputDataConfig[].ChannelName": emulated("The channel's folder below /opt/ml/input/data."),
    "InputDataConfig[].DataSource.S3DataSource.S3DataType": emulated(
        "What S3Uri names.",
        {
            "S3Prefix": works("Every object whose key begins with the prefix."),
            "Converse": works("Read as S3Prefix."),
            "ManifestFile": works("The objects listed in a manifest."),
            "AugmentedManifestFile": works(
                "The values in the lines of a manifest, or the objects they name; in Pipe mode."
            ),
        },
    ),
    "InputDataConfig[].DataSource.S3DataSource.S3Uri": emulated(
        "An s3:// URI, read with the credentials of this machine or from the folder that Local.Sources names; "
        "or a local path or file:// URI."
    ),
    "InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType": emulated(
        "Which objects each host gets.",
        {
            "FullyReplicated": works("Every host gets all of them."),
            "ShardedByS3Key": works("Objects are distributed over the hosts in listing order."),
        },
    ),
    "InputDataConfig[].DataSource.S3DataSource.AttributeNames[]": emulated(
        "Which attributes of each line of an augmented manifest are sent, in this order."
    ),
    "InputDataConfig[].DataSource.S3DataSource.InstanceGroupNames[]": emulated(
        "Only hosts of these groups have the channel."
    ),
    "InputDataConfig[].DataSource.S3DataSource.ModelAccessConfig.AcceptEula": recorded(
        "No model that requires it is downloaded."
    ),
    "InputDataConfig[].DataSource.S3DataSource.HubAccessConfig.HubContentArn": refused(
        "Content of a hub cannot be fetched here."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemId": emulated(
        "The folder that Local.Sources maps this id to."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemAccessMode": emulated(
        "Whether the container may write there; its changes are kept."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemType": recorded(
        "EFS or FSxLustre: a container cannot tell the difference."
    ),
    "InputDataConfig[].DataSource.FileSystemDataSource.DirectoryPath": emulated(
        "A folder below the one that Local.Sources names."
    ),
    "InputDataConfig[].DataSource.DatasetSource.DatasetArn": refused("Data sets of a hub cannot be fetched here."),
    "InputDataConfig[].ContentType": emulated("Written to inputdataconfig.json."),
    "InputDataConfig[].CompressionType": emulated(
        "Whether objects are decompressed during delivery.",
        {
            "None": works("Objects are passed on unchanged."),
            "Gzip": works("Objects are decompressed on their way into the FIFO; in Pipe mode."),
        },
    ),
    "InputDataConfig[].RecordWrapperType": emulated(
        "Whether objects are wrapped as RecordIO; written to inputdataconfig.json.",
        {
            "None": works("Objects are passed on unchanged."),
            "RecordIO": works("Each object is one record; in Pipe mode."),
        },
    ),
    "InputDataConfig[].InputMode": emulated("How this channel is delivered.", _MODES),
    "InputDataConfig[].ShuffleConfig.Seed": emulated(
        "Pipe mode: another order of objects, or lines, in every epoch, the same for the same seed; the service's own "
        "permutation is not known."
    ),
    "OutputDataConfig.KmsKeyId": emulated(
        "Encrypts everything that is published to S3. Nothing is encrypted on this machine."
    ),
    "OutputDataConfig.S3OutputPath": emulated(
        "A local path is where artifacts go. For an s3:// URI they go to Local.Output."
    ),
    "OutputDataConfig.CompressionType": emulated(
        "Whether the model is packed.",
        {"GZIP": works("Packed as model.tar.gz and output.tar.gz."), "NONE": works("Left as plain files.")},
    ),
    "ResourceConfig.InstanceType": emulated(
        "Decides how many GPUs and Neuron devices a host gets; written to resourceconfig.json; with "
        "Local.EnforceInstanceLimits CPU and memory are limited to those of the type."
    ),
    "ResourceConfig.InstanceCount": emulated("The number of hosts, algo-1 to algo-N."),
    "ResourceConfig.VolumeSizeInGB": emulated(
        "With Local.EnforceInstanceLimits the size of a disk for data, model and output; without it only recorded."
    ),
    "ResourceConfig.VolumeKmsKeyId": recorded(_NO_ENCRYPTION),
    "ResourceConfig.KeepAlivePeriodInSeconds": emulated(
        "The cache folder of a warm pool is kept for this time, for the next job that matches; no job starts faster."
    ),
    "ResourceConfig.InstanceGroups[].InstanceType": emulated(
        "As ResourceConfig.InstanceType, for the hosts of this group."
    ),
    "ResourceConfig.InstanceGroups[].InstanceCount": emulated("The number of hosts of this group."),
    "ResourceConfig.InstanceGroups[].InstanceGroupName": emulated(
        "Written to resourceconfig.json; decides which channels a host has."
    ),
    "ResourceConfig.TrainingPlanArn": recorded("No capacity is reserved here."),
    "ResourceConfig.InstancePlacementConfig.EnableMultipleJobs": recorded(_PLACEMENT),
    "ResourceConfig.InstancePlacementConfig.PlacementSpecifications[].UltraServerId": recorded(_PLACEMENT),
    "ResourceConfig.InstancePlacementConfig.PlacementSpecifications[].InstanceCount": recorded(_PLACEMENT),
    "ResourceConfig.InstancePreferences[].InstanceType": emulated(_PREFERENCES),
    "ResourceConfig.InstancePreferences[].InstanceCount": emulated("The number of hosts if this type is selected."),
    "ResourceConfig.InstancePreferences[].TrainingPlanArns[]": recorded("No capacity is reserved here."),
    "ResourceConfig.SelectedInstanceType": refused("Read-only: the service does not accept it in a request."),
    "ResourceConfig.SelectedInstanceCount": refused("Read-only: the service does not accept it in a request."),
    "VpcConfig.SecurityGroupIds[]": recorded(_NETWORK),
    "VpcConfig.Subnets[]": recorded(_NETWORK),
    "StoppingCondition.MaxRuntimeInSeconds": emulated("Stops the job with SIGTERM after this time; default: 86400."),
    "StoppingCondition.MaxWaitTimeInSeconds": emulated("Counted from the job's creation, over all its attempts."),
    "StoppingCondition.MaxPendingTimeInSeconds": recorded("A job that waits here waits until instances are free."),
    "Tags[].Key": recorded("DescribeTrainingJob does not return tags; they are shown under Local."),
    "Tags[].Value": recorded("DescribeTrainingJob does not return tags; they are shown under Local."),
    "EnableNetworkIsolation": emulated(
        "Whether containers can reach anything but each other.",
        {
            "false": works("Containers have the network access that the engine gives them."),
            "true": works("Containers reach only each other: no other network, not this machine, no DNS."),
        },
    ),
    "EnableInterContainerTrafficEncryption": recorded(_NO_ENCRYPTION),
    "EnableManagedSpotTraining": emulated(
        "Interruptions come from smlocal interrupt or Local.Faults: SIGTERM, then the job restarts."
    ),
    "CheckpointConfig.S3Uri": emulated(
        "A local path or file:// URI, or an s3:// URI that Local.Sources maps to a folder: restored at the start, "
        "mirrored while the job runs, saved at the end. Any other s3:// URI is treated in the same way when publishing "
        "is on; else it is downloaded once, and checkpoints are saved in the job's output folder."
    ),
    "CheckpointConfig.LocalPath": emulated(
        "The folder in the container that holds the checkpoints; written to checkpointconfig.json."
    ),
    "DebugHookConfig.LocalPath": emulated("The folder in the container whose files are mirrored; empty at the start."),
    "DebugHookConfig.S3OutputPath": emulated(
        "A local path, an s3:// URI that Local.Sources maps, or any when publishing is on: files are mirrored there "
        "while the job runs; else they go to the job's output folder."
    ),
    "DebugHookConfig.HookParameters": recorded(_TENSORS),
    "DebugHookConfig.CollectionConfigurations[].CollectionName": recorded(_TENSORS),
    "DebugHookConfig.CollectionConfigurations[].CollectionParameters": recorded(_TENSORS),
    "DebugRuleConfigurations[].RuleConfigurationName": emulated(_RULES),
    "DebugRuleConfigurations[].LocalPath": emulated(
        "The folder in which the rule writes; a status document there has its findings."
    ),
    "DebugRuleConfigurations[].S3OutputPath": recorded("The output of a rule is not saved."),
    "DebugRuleConfigurations[].RuleEvaluatorImage": emulated(
        "Run as given; the evaluator images of AWS are replaced by one of smlocal."
    ),
    "DebugRuleConfigurations[].InstanceType": recorded("A rule has one processor and 2 GiB of memory."),
    "DebugRuleConfigurations[].VolumeSizeInGB": recorded("A rule has one processor and 2 GiB of memory."),
    "DebugRuleConfigurations[].RuleParameters": emulated(
        "Given to the rule as strings; source_s3_uri and other_trial_N may be local paths."
    ),
    "TensorBoardOutputConfig.LocalPath": emulated(
        "The folder in the container whose files are mirrored; empty at the start."
    ),
    "TensorBoardOutputConfig.S3OutputPath": emulated(
        "A local path, an s3:// URI that Local.Sources maps, or any when publishing is on: files are mirrored there "
        "while the job runs; else they go to the job's output folder."
    ),
    "ExperimentConfig.ExperimentName": recorded(_EXPERIMENT),
    "ExperimentConfig.TrialName": recorded(_EXPERIMENT),
    "ExperimentConfig.TrialComponentDisplayName": recorded(_EXPERIMENT),
    "ExperimentConfig.RunName": recorded(_EXPERIMENT),
    "ProfilerConfig.S3OutputPath": recorded(_PROFILER),
    "ProfilerConfig.ProfilingIntervalInMilliseconds": recorded(_PROFILER),
    "ProfilerConfig.ProfilingParameters": recorded(_PROFILER),
    "ProfilerConfig.DisableProfiler": recorded(_PROFILER),
    "ProfilerRuleConfigurations[].RuleConfigurationName": recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].LocalPath": recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].S3OutputPath": recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].RuleEvaluatorImage": recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].InstanceType": recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].VolumeSizeInGB": recorded(_PROFILER_RULES),
    "ProfilerRuleConfigurations[].RuleParameters": recorded(_PROFILER_RULES),
    "Environment": emulated("Environment variables of every container."),
    "RetryStrategy.MaximumRetryAttempts": emulated(
        "Only an InternalServerError is retried: a lost engine, or one simulated by Local.Faults."
    ),
    "RemoteDebugConfig.EnableRemoteDebug": recorded("Systems Manager is not involved; use docker exec."),
    "InfraCheckConfig.EnableInfraCheck": recorded("The machine is not checked."),
    "SessionChainingConfig.EnableSessionTagChaining": recorded(
        "No session is created. DescribeTrainingJob does not return it, so it is shown under Local."
    ),
    "ServerlessJobConfig.BaseModelArn": refused(_SERVERLESS),
    "ServerlessJobConfig.AcceptEula": refused(_SERVERLESS),
    "ServerlessJobConfig.JobType": refused(_SERVERLESS),
    "ServerlessJobConfig.CustomizationTechnique": refused(_SERVERLESS),
    "ServerlessJobConfig.Peft": refused(_SERVERLESS),
    "ServerlessJobConfig.EvaluationType": refused(_SERVERLESS),
    "ServerlessJobConfig.EvaluatorArn": refused(_SERVERLESS),
    "ServerlessJobConfig.SequenceLength": refused(_SERVERLESS),
    "MlflowConfig.MlflowResourceArn": recorded(_MLFLOW),
    "MlflowConfig.MlflowExperimentName": recorded(_MLFLOW),
    "MlflowConfig.MlflowRunName": recorded(_MLFLOW),
    "ModelPackageConfig.ModelPackageGroupArn": recorded(_PACKAGE),
    "ModelPackageConfig.SourceModelPackageArn": recorded(_PACKAGE),
}

MEMBERS: Final = MemberTable(rows=TABLE)
