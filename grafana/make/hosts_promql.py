"""Hosts as Prometheus' node_exporter names their metrics, in PromQL."""

from parts import dashboard, graph, row, stat
from promql import chosen, expression, instances, rate, source_variable

FILES = 'fstype!~"tmpfs|ramfs|overlay|squashfs|devtmpfs"'
IDLE = rate("node_cpu_seconds_total", 'mode="idle"')
BUSY = f"1 - avg by (instance) ({IDLE})"


def memory(name):
    return chosen(f"node_memory_{name}_bytes")


def total(name):
    return f"sum({memory(name)})"


def make():
    used = f"1 - {memory('MemAvailable')} / {memory('MemTotal')}"
    return dashboard(
        "halite-hosts-promql", "Hosts (PromQL)", [
            stat("Load", expression(chosen("node_load1")), decimals=2, width=6, height=5),
            stat("CPU in use", expression(BUSY), unit="percentunit", width=6, height=5),
            stat("Memory in use", expression(used), unit="percentunit", width=6, height=5),
            stat("Up for", expression(f"time() - {chosen('node_boot_time_seconds')}"), unit="s",
                 width=6, height=5),

            row("Load and processors"),
            graph("Load of one minute", expression(chosen("node_load1"))),
            graph("CPU by mode, mean of the hosts",
                  expression("avg by (mode) ("
                             + rate("node_cpu_seconds_total", 'mode!="idle"') + ")", "{{mode}}"),
                  unit="percentunit", stack=True),
            graph("CPU in use", expression(BUSY), unit="percentunit"),
            graph("Processes",
                  expression(chosen("node_procs_running"), "{{instance}} running"),
                  expression(chosen("node_procs_blocked"), "{{instance}} blocked"),
                  expression(rate("node_forks_total"), "{{instance}} forks a second"),
                  right=("/forks/", "ops")),

            row("Memory"),
            graph("Memory, sum of the hosts",
                  expression(f"{total('MemTotal')} - {total('MemFree')} - {total('Buffers')}"
                             f" - {total('Cached')}", "used"),
                  expression(total("Buffers"), "buffered"),
                  expression(total("Cached"), "cached"),
                  expression(total("MemFree"), "free"), unit="bytes", stack=True),
            graph("Memory in use", expression(used), unit="percentunit"),
            graph("Swap",
                  expression(f"{memory('SwapTotal')} - {memory('SwapFree')}", "{{instance}} used"),
                  expression(rate("node_vmstat_pswpin"), "{{instance}} pages in"),
                  expression(rate("node_vmstat_pswpout"), "{{instance}} pages out"), unit="bytes",
                  right=("/pages/", "ops")),

            row("Networks and disks"),
            graph("Bytes a second received",
                  expression(rate("node_network_receive_bytes_total", 'device!="lo"'),
                             "{{instance}} {{device}}"), unit="Bps"),
            graph("Bytes a second sent",
                  expression(rate("node_network_transmit_bytes_total", 'device!="lo"'),
                             "{{instance}} {{device}}"), unit="Bps"),
            graph("Bytes a second read", expression(rate("node_disk_read_bytes_total"),
                                                    "{{instance}} {{device}}"), unit="Bps"),
            graph("Bytes a second written", expression(rate("node_disk_written_bytes_total"),
                                                       "{{instance}} {{device}}"), unit="Bps"),
            graph("Disks busy", expression(rate("node_disk_io_time_seconds_total"),
                                           "{{instance}} {{device}}"), unit="percentunit"),

            row("File systems"),
            graph("In use",
                  expression(f"1 - {chosen('node_filesystem_avail_bytes', FILES)}"
                             f" / {chosen('node_filesystem_size_bytes', FILES)}",
                             "{{instance}} {{mountpoint}}"), unit="percentunit"),
            graph("Free in a day, at the pace of the last six hours",
                  expression(f"predict_linear({chosen('node_filesystem_avail_bytes', FILES)}[6h], 86400)",
                             "{{instance}} {{mountpoint}}"), unit="bytes", minimum=None),
        ],
        variables=[source_variable(), instances("node_load1", "Host")],
        tags=["promql"],
        description="Machines, as node_exporter names their metrics: sent by remote_write of "
                    "Prometheus, vmagent or Alloy.")
