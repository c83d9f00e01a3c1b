# What an image without any toolkit does: who am I, who are the others, and torchrun.
set -eu
known() {
    python -c 'import json, sys; c = json.load(open("/opt/ml/input/config/resourceconfig.json")); print(eval(sys.argv[1], c))' "$1"
}
cd /opt/ml/code
GLOO_SOCKET_IFNAME=$(known network_interface_name)
export GLOO_SOCKET_IFNAME
exec torchrun --nnodes "$(known 'len(hosts)')" --node_rank "$(known 'hosts.index(current_host)')" \
    --nproc_per_node 2 --master_addr "$(known 'hosts[0]')" --master_port 7777 all_reduce.py
