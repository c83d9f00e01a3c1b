# Two processes on each of two hosts.
set -eu
node=1
grep -q '"current_host":"algo-1"' /opt/ml/input/config/resourceconfig.json && node=0
exec torchrun --nnodes 2 --node_rank $node --nproc_per_node 2 --master_addr algo-1 --master_port 7777 "$1"
