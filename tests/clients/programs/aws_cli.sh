#!/bin/sh
# A job by the AWS CLI: data put into S3, the job made, waited for and listed, its log and its model read.
#
#   aws_cli.sh AWS IMAGE NAME FOLLOW    where FOLLOW is `yes` for a version that has `logs tail`
set -eu
aws=$1 image=$2 name=$3 follow=$4
group=/aws/sagemaker/TrainingJobs

# Without `logs tail` in between, the waiter's first call comes while the job still trains.
sleep=1
[ "$follow" = yes ] || sleep=6

mkdir data && echo 1,2 >data/rows.csv
"$aws" s3 mb "s3://$name"
"$aws" s3 sync data "s3://$name/train" --no-progress
"$aws" s3 ls "s3://$name/train/"
cat >job.json <<EOF
{
  "TrainingJobName": "$name",
  "RoleArn": "arn:aws:iam::123456789012:role/training",
  "AlgorithmSpecification": {"TrainingImage": "$image", "TrainingInputMode": "File"},
  "Environment": {"SCRIPT": "cat /opt/ml/input/data/train/rows.csv; echo weights > /opt/ml/model/weights; sleep $sleep; echo last"},
  "InputDataConfig": [
    {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://$name/train"}}}
  ],
  "OutputDataConfig": {"S3OutputPath": "s3://$name/models"},
  "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
  "StoppingCondition": {"MaxRuntimeInSeconds": 1800}
}
EOF
"$aws" sagemaker create-training-job --cli-input-json file://job.json
if [ "$follow" = yes ]; then
    # It never ends by itself. Once it has shown the last line it asks twice more, and must show no line again.
    "$aws" --debug logs tail $group --log-stream-name-prefix "$name/" --follow --format short >followed 2>asked &
    questions() { grep -c "Making request for OperationModel(name=FilterLogEvents)" asked || true; }
    until grep -q last followed; do
        kill -0 $! || { cat asked >&2; exit 1; }
        sleep 0.2
    done
    enough=$(($(questions) + 2))
    until [ "$(questions)" -ge $enough ]; do
        kill -0 $! || { cat asked >&2; exit 1; }
        sleep 0.2
    done
    kill $!
    wait $! || true
fi
"$aws" --debug sagemaker wait training-job-completed-or-stopped --training-job-name "$name" 2>waited || { cat waited >&2; exit 1; }
"$aws" sagemaker describe-training-job --training-job-name "$name" --output json >described
"$aws" sagemaker list-training-jobs --name-contains "$name" --query 'TrainingJobSummaries[].TrainingJobStatus' --output text
"$aws" s3 cp "s3://$name/models/$name/output/model.tar.gz" . --only-show-errors
tar -tzf model.tar.gz
"$aws" logs filter-log-events --log-group-name $group --log-stream-name-prefix "$name/" --filter-pattern last \
    --query 'events[].message' --output text
stream=$("$aws" logs describe-log-streams --log-group-name $group --log-stream-name-prefix "$name/" \
    --query 'logStreams[0].logStreamName' --output text)
"$aws" logs get-log-events --log-group-name $group --log-stream-name "$stream" --start-from-head \
    --query 'events[].message' --output text
! "$aws" sagemaker stop-training-job --training-job-name "$name"
! "$aws" sagemaker wait training-job-completed-or-stopped --training-job-name "$name-none"
