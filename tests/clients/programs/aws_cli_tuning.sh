#!/bin/sh
# A tuning job by the AWS CLI: made, asked for until it ends, its best training job and all of them listed.
#
#   aws_cli_tuning.sh AWS NAME    tuning.json in this folder is the request
set -eu
aws=$1 name=$2
"$aws" sagemaker create-hyper-parameter-tuning-job --cli-input-json file://tuning.json
status=InProgress
while [ "$status" = InProgress ]; do
    status=$("$aws" sagemaker describe-hyper-parameter-tuning-job --hyper-parameter-tuning-job-name "$name" \
        --query HyperParameterTuningJobStatus --output text)
done
[ "$status" = Completed ]
"$aws" sagemaker describe-hyper-parameter-tuning-job --hyper-parameter-tuning-job-name "$name" \
    --query BestTrainingJob.TrainingJobName --output text
"$aws" sagemaker list-training-jobs-for-hyper-parameter-tuning-job --hyper-parameter-tuning-job-name "$name" \
    --query 'TrainingJobSummaries[].TrainingJobStatus' --output text
