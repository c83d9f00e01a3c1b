"""Names of Linux capabilities."""

_NAMES = (
    "chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable net_bind_service "
    "net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct sys_admin "
    "sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease audit_write audit_control setfcap mac_override "
    "mac_admin syslog wake_alarm block_suspend audit_read perfmon bpf checkpoint_restore"
)


def capability_names(mask: str) -> list[str] | str:
    """Those of the bits of a mask in /proc/self/status; the mask itself if it is none."""
    try:
        bits = int(mask, 16)
    except (ValueError, TypeError):
        return mask
    names = _NAMES.split()
    return [names[at] if at < len(names) else str(at) for at in range(bits.bit_length()) if bits >> at & 1]
