#!/bin/sh
# The AWS CLI: a pipeline is made of a file, started with a parameter, described, listed and deleted.
set -e
aws=$1
name=$2
role=arn:aws:iam::123456789012:role/pipelines
sagemaker() { "$aws" sagemaker "$@" --output text; }

cat >pipeline.json <<'END'
{"Version": "2020-12-01", "Parameters": [{"Name": "Why", "Type": "String", "DefaultValue": "default"}], "Steps": [
  {"Name": "End", "Type": "Fail", "Arguments": {"ErrorMessage": {"Get": "Parameters.Why"}}}]}
END
sagemaker create-pipeline --pipeline-name "$name" --role-arn "$role" --pipeline-definition file://pipeline.json
execution=$(sagemaker start-pipeline-execution --pipeline-name "$name" --pipeline-parameters Name=Why,Value=given)
status=Executing
while [ "$status" = Executing ]; do
    status=$(sagemaker describe-pipeline-execution --pipeline-execution-arn "$execution" --query PipelineExecutionStatus)
done
echo "$status"
sagemaker list-pipeline-execution-steps --pipeline-execution-arn "$execution" \
    --query 'PipelineExecutionSteps[].[StepName,StepStatus,FailureReason]'
sagemaker list-pipelines --query 'PipelineSummaries[].PipelineName'
sagemaker delete-pipeline --pipeline-name "$name" --query PipelineArn
