#!/bin/sh
# A processing job by the AWS CLI: made, waited for, described and listed, its log and its output read.
#
#   aws_cli_processing.sh AWS IMAGE NAME
set -eu
aws=$1 image=$2 name=$3

echo 1,2 >rows.csv
"$aws" s3 mb "s3://$name"
"$aws" s3 cp rows.csv "s3://$name/in/" --only-show-errors
cat >job.json <<EOF
{
  "ProcessingJobName": "$name",
  "RoleArn": "arn:aws:iam::123456789012:role/processing",
  "AppSpecification": {
    "ImageUri": "$image",
    "ContainerEntrypoint": ["sh", "-c", "cp /opt/ml/processing/rows/rows.csv /opt/ml/processing/copy; echo copied"]
  },
  "ProcessingInputs": [
    {"InputName": "rows", "S3Input": {"S3Uri": "s3://$name/in", "LocalPath": "/opt/ml/processing/rows",
      "S3DataType": "S3Prefix", "S3InputMode": "File"}}
  ],
  "ProcessingOutputConfig": {"Outputs": [
    {"OutputName": "copy", "S3Output": {"S3Uri": "s3://$name/out", "LocalPath": "/opt/ml/processing/copy",
      "S3UploadMode": "EndOfJob"}}
  ]},
  "ProcessingResources": {"ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}}
}
EOF
"$aws" sagemaker create-processing-job --cli-input-json file://job.json --output text
"$aws" sagemaker wait processing-job-completed-or-stopped --processing-job-name "$name"
"$aws" sagemaker describe-processing-job --processing-job-name "$name" --query ProcessingJobStatus --output text
"$aws" sagemaker list-processing-jobs --query 'ProcessingJobSummaries[].ProcessingJobName' --output text
"$aws" logs filter-log-events --log-group-name /aws/sagemaker/ProcessingJobs --log-stream-name-prefix "$name/" \
    --query 'events[].message' --output text
"$aws" s3 cp "s3://$name/out/rows.csv" - --only-show-errors
