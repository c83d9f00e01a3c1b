"""The names that `rule_to_invoke` may have without a source file. It imports nothing, so it can be read anywhere."""

BUILT_IN = {
    "AllZero": "all_zero",
    "CheckInputImages": "check_input_images",
    "ClassImbalance": "class_imbalance",
    "Confusion": "confusion",
    "DeadRelu": "dead_relu",
    "ExplodingTensor": "exploding_tensor",
    "FeatureImportanceOverweight": "feature_importance_overweight",
    "LossNotDecreasing": "loss_not_decreasing",
    "NLPSequenceRatio": "nlp_sequence_ratio",
    "Overfit": "overfit",
    "Overtraining": "overtraining",
    "PoorWeightInitialization": "poor_weight_initialization",
    "SaturatedActivation": "saturated_activation",
    "SimilarAcrossRuns": "similar_across_runs",
    "StalledTrainingRule": "stalled_training_rule",
    "TensorVariance": "tensor_variance",
    "TreeDepth": "tree_depth",
    "UnchangedTensor": "unchanged_tensor",
    "VanishingGradient": "vanishing_gradient",
    "WeightUpdateRatio": "weight_update_ratio",
}
"""Class and module in `smlocal_rules.rules`, for each rule that is evaluated."""

REPORT_RULES = frozenset({"CreateXgboostReport"})
"""Built-in rules of the service that make a report and find nothing: recorded, not evaluated."""

PROFILER_RULES = frozenset(
    {
        "BatchSize",
        "CPUBottleneck",
        "Dataloader",
        "GPUMemoryIncrease",
        "IOBottleneck",
        "LoadBalancing",
        "LowGPUUtilization",
        "MaxInitializationTime",
        "OverallFrameworkMetrics",
        "OverallSystemUsage",
        "ProfilerReport",
        "StepOutlier",
    }
)
"""Rules of the profiler, which read system metrics and no tensors: recorded, not evaluated."""
