#!/usr/bin/env bash
# The lines of a file through the server of a container, by four curls at once: IMAGE FILE FOLDER.
set -e
container=$(docker run --detach "$1" serve)
trap 'docker rm --force "$container"' EXIT
address=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$container"):8080
until curl --silent --fail "http://$address/ping"; do sleep 0.03; done
mkdir "$3/parts" "$3/answers"
split --line-bytes 1048576 "$2" "$3/parts/"
find "$3/parts" -type f -printf '%f\n' | xargs -P 4 -I PART curl --silent --fail --output "$3/answers/PART" \
    --data-binary "@$3/parts/PART" "http://$address/invocations"
cat "$3/answers/"* >"$3/lines.csv.out"
