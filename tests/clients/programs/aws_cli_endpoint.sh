#!/bin/sh
# An endpoint by the AWS CLI: its model put into S3, made, waited for, asked, listed, updated and deleted.
#
#   aws_cli_endpoint.sh AWS IMAGE NAME
set -eu
aws=$1 image=$2 name=$3
role=arn:aws:iam::123456789012:role/hosting

echo trained >weights.txt
tar -czf model.tar.gz weights.txt
"$aws" s3 mb "s3://$name"
"$aws" s3 cp model.tar.gz "s3://$name/model.tar.gz" --only-show-errors
for answer in model echo; do
    "$aws" sagemaker create-model --model-name "$name-$answer" --execution-role-arn $role --primary-container \
        "Image=$image,ModelDataUrl=s3://$name/model.tar.gz,Environment={ANSWER=$answer}" --output text
    "$aws" sagemaker create-endpoint-config --endpoint-config-name "$name-$answer" --output text --production-variants \
        "VariantName=AllTraffic,ModelName=$name-$answer,InitialInstanceCount=1,InstanceType=ml.m5.large"
done
"$aws" sagemaker create-endpoint --endpoint-name "$name" --endpoint-config-name "$name-model" --output text
"$aws" sagemaker wait endpoint-in-service --endpoint-name "$name"
printf 1,2 >body
"$aws" sagemaker-runtime invoke-endpoint --endpoint-name "$name" --content-type text/csv --body fileb://body answer \
    --query InvokedProductionVariant --output text
cat answer && echo
"$aws" sagemaker update-endpoint --endpoint-name "$name" --endpoint-config-name "$name-echo" --output text
"$aws" sagemaker wait endpoint-in-service --endpoint-name "$name"
"$aws" sagemaker-runtime invoke-endpoint --endpoint-name "$name" --body fileb://body answer --output text >/dev/null
cat answer && echo
"$aws" sagemaker list-endpoints --query 'Endpoints[].EndpointStatus' --output text
"$aws" logs filter-log-events --log-group-name "/aws/sagemaker/Endpoints/$name" --query 'events[].message' --output text
"$aws" sagemaker delete-endpoint --endpoint-name "$name"
"$aws" sagemaker wait endpoint-deleted --endpoint-name "$name"
! "$aws" sagemaker-runtime invoke-endpoint --endpoint-name "$name" --body fileb://body answer
