"""The test of every emulated member. `mutation/test_members.py` checks that it fails when the member has no effect."""

_MEMBERS: dict[str, dict[str, tuple[str, ...]]] = {
    "tests/contract/test_cases.py": {
        "test_case[environment]": ("TrainingJobName", "Environment"),
        "test_case[hello]": ("HyperParameters", "OutputDataConfig.S3OutputPath"),
        "test_case[baked]": ("AlgorithmSpecification.TrainingImage",),
        "test_case[mode-of-the-job]": ("AlgorithmSpecification.TrainingInputMode",),
        "test_case[command-entrypoint]": ("AlgorithmSpecification.ContainerEntrypoint[]",),
        "test_case[command-arguments]": ("AlgorithmSpecification.ContainerArguments[]",),
        "test_case[two-channels]": ("InputDataConfig[].ChannelName", "InputDataConfig[].ContentType"),
        "test_case[channel-manifest]": ("InputDataConfig[].DataSource.S3DataSource.S3DataType",),
        "test_case[channel-mapped]": ("InputDataConfig[].DataSource.S3DataSource.S3Uri",),
        "test_case[two-hosts-sharded]": ("InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType",),
        "test_case[compression-none]": ("OutputDataConfig.CompressionType",),
        "test_case[config-sizes]": ("ResourceConfig.InstanceType",),
        "test_case[two-hosts]": ("ResourceConfig.InstanceCount",),
        "test_case[max-runtime]": ("StoppingCondition.MaxRuntimeInSeconds",),
    },
    "tests/jobs/watch/test_metrics.py": {
        "test_a_metric_has_the_name_of_its_definition": ("AlgorithmSpecification.MetricDefinitions[].Name",),
        "test_a_metric_has_the_last_value_that_its_regex_found": ("AlgorithmSpecification.MetricDefinitions[].Regex",),
    },
    "tests/data/in_jobs/test_pipe_jobs.py": {
        "test_an_augmented_manifest": ("InputDataConfig[].DataSource.S3DataSource.AttributeNames[]",),
        "test_gzip": ("InputDataConfig[].CompressionType",),
        "test_record_io": ("InputDataConfig[].RecordWrapperType",),
        "test_shuffled_epochs": ("InputDataConfig[].ShuffleConfig.Seed",),
    },
    "tests/jobs/hosts/test_groups.py": {
        "test_a_channel_of_one_group": ("InputDataConfig[].DataSource.S3DataSource.InstanceGroupNames[]",),
        "test_the_hosts_of_groups": (
            "ResourceConfig.InstanceGroups[].InstanceType",
            "ResourceConfig.InstanceGroups[].InstanceCount",
            "ResourceConfig.InstanceGroups[].InstanceGroupName",
        ),
    },
    "tests/jobs/start/test_simulated_outcomes.py": {
        "test_the_preference_that_a_fault_leaves": (
            "ResourceConfig.InstancePreferences[].InstanceType",
            "ResourceConfig.InstancePreferences[].InstanceCount",
        ),
    },
    "tests/jobs/start/test_warm_pools.py": {
        "test_each_host_has_its_own_cache": ("ResourceConfig.KeepAlivePeriodInSeconds",),
    },
    "tests/data/in_jobs/test_file_systems.py": {
        "test_a_file_system_is_mounted_in_place": (
            "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemId",
            "InputDataConfig[].DataSource.FileSystemDataSource.DirectoryPath",
        ),
        "test_only_rw_can_be_written": ("InputDataConfig[].DataSource.FileSystemDataSource.FileSystemAccessMode",),
    },
    "tests/unit/sagemaker/contract/test_effects.py": {
        "test_input_mode_of_a_channel": ("InputDataConfig[].InputMode",),
    },
    "tests/data/in_jobs/test_published_mirrors.py": {
        "test_everything_that_is_sent_is_encrypted": ("OutputDataConfig.KmsKeyId",),
    },
    "tests/unit/jobs/planning/aspects/limits/test_limits.py": {
        "test_the_volume_holds_the_data_and_what_is_written": ("ResourceConfig.VolumeSizeInGB",),
    },
    "tests/jobs/spot/test_spot.py": {
        "test_max_wait_stops_the_job": ("StoppingCondition.MaxWaitTimeInSeconds",),
        "test_an_interruption_restarts_the_job_with_empty_folders": ("EnableManagedSpotTraining",),
        "test_a_retry_follows_an_internal_error": ("RetryStrategy.MaximumRetryAttempts",),
    },
    "tests/jobs/limits/test_isolation.py": {
        "test_an_isolated_host_reaches_nothing": ("EnableNetworkIsolation",),
    },
    "tests/jobs/spot/test_checkpoints.py": {
        "test_restored_changed_and_saved": ("CheckpointConfig.S3Uri", "CheckpointConfig.LocalPath"),
    },
    "tests/jobs/rules/test_collectors.py": {
        "test_collected_while_the_job_runs": (
            "DebugHookConfig.LocalPath",
            "DebugHookConfig.S3OutputPath",
            "TensorBoardOutputConfig.LocalPath",
            "TensorBoardOutputConfig.S3OutputPath",
        ),
    },
    "tests/jobs/rules/test_rules.py": {
        "test_what_a_rule_is_given": (
            "DebugRuleConfigurations[].RuleConfigurationName",
            "DebugRuleConfigurations[].LocalPath",
            "DebugRuleConfigurations[].RuleEvaluatorImage",
            "DebugRuleConfigurations[].RuleParameters",
        ),
    },
}
TEST_OF = {
    member: f"{file}::{test}"
    for file, tests in _MEMBERS.items()
    for test, members in tests.items()
    for member in members
}
