"""Programs of replicas in tests."""

COUNTED = "n=$(cat /gcs/b/starts 2>/dev/null || echo 0); n=$((n+1)); echo $n >/gcs/b/starts; echo start $n; "
"""`$n` is how often this replica has been started."""
SLEEPS = "trap 'exit 0' TERM; while :; do sleep 0.05; done"
UNTIL_GO = "trap 'exit 0' TERM; echo ready; until [ -e /gcs/b/go ]; do sleep 0.05; done"
"""It ends well when the test makes the file `go` in the bucket."""
