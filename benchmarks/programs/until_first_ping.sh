#!/bin/sh
# A server in a container until it answers its first ping: NAME IMAGE MODEL.
set -eu
name=$1 image=$2 model=$3
docker run --detach --name "$name" --volume "$model:/opt/ml/model" "$image" serve
address=$(docker inspect --format '{{.NetworkSettings.IPAddress}}' "$name")
until curl --silent --fail --output /dev/null "http://$address:8080/ping"; do sleep 0.02; done
