"""Hosts as collectd's plugin write_tsdb names their metrics; grafana/collectd.conf sends them."""

from parts import (annotation, dashboard, filtered, graph, query, row, source_variable, stat,
                   variable)

HOST = {"fqdn": "$host"}


def host(metric, alias="$tag_fqdn", **more):
    return query(metric, where=HOST, alias=alias, **more)


def together(metric, alias, aggregator="avg"):
    """One line of all hosts that are chosen."""
    return filtered(metric, "fqdn", "literal_or", "$host", group=False, aggregator=aggregator,
                    alias=alias)


def make():
    return dashboard(
        "halite-hosts", "Hosts (collectd)", [
            stat("Load", host("load.load.shortterm", aggregator="max"), decimals=2, width=6, height=5),
            stat("CPU idle", host("cpu.idle.percent"), unit="percent", width=6, height=5),
            stat("Memory free", host("memory.free.memory"), unit="bytes", width=6, height=5),
            stat("Up for", host("uptime.uptime", aggregator="max"), unit="s", width=6, height=5),

            row("Load and processors"),
            graph("Load of one minute", host("load.load.shortterm")),
            graph("CPU, mean of the hosts",
                  *(together(f"cpu.{state}.percent", state)
                    for state in ("user", "system", "wait", "nice", "softirq", "interrupt",
                                  "steal")), unit="percent", stack=True),
            graph("CPU not idle", host("cpu.user.percent", "$tag_fqdn user"),
                  host("cpu.system.percent", "$tag_fqdn system"), unit="percent"),
            graph("Processes", host("processes.running.ps_state", "$tag_fqdn running"),
                  host("processes.blocked.ps_state", "$tag_fqdn blocked"),
                  host("processes.fork_rate", "$tag_fqdn forks a second", counter=True),
                  right=("/forks/", "ops")),

            row("Memory"),
            graph("Memory, sum of the hosts",
                  *(together(f"memory.{use}.memory", use, "sum")
                    for use in ("used", "buffered", "cached", "slab_recl", "slab_unrecl", "free")),
                  unit="bytes", stack=True),
            graph("Memory in use", host("memory.used.memory"), unit="bytes"),
            graph("Swap", host("swap.used.swap", "$tag_fqdn used"),
                  host("swap.in.swap_io", "$tag_fqdn in", counter=True),
                  host("swap.out.swap_io", "$tag_fqdn out", counter=True), unit="bytes",
                  right=("/ (in|out)$/", "Bps")),
            graph("Users", host("users.users")),

            row("Networks"),
            graph("$interface", host("interface.$interface.if_octets.rx", "$tag_fqdn in",
                                     counter=True),
                  host("interface.$interface.if_octets.tx", "$tag_fqdn out", counter=True),
                  unit="Bps", repeat="interface"),

            row("Disks"),
            graph("$disk", host("disk.$disk.disk_octets.read", "$tag_fqdn read", counter=True),
                  host("disk.$disk.disk_octets.write", "$tag_fqdn written", counter=True),
                  unit="Bps", repeat="disk"),

            row("File systems"),
            graph("$mount", host("df.$mount.df_complex.used", "$tag_fqdn used"),
                  host("df.$mount.df_complex.free", "$tag_fqdn free"), unit="bytes",
                  repeat="mount"),
        ],
        variables=[
            source_variable(),
            variable("host", "tag_values(load.load.shortterm, fqdn)", "Host", every=""),
            variable("interface", "metrics(interface.)", "Network", every="",
                     regex=r"/^interface\.(.+)\.if_octets\.rx$/"),
            variable("disk", "metrics(disk.)", "Disk", every="",
                     regex=r"/^disk\.(.+)\.disk_octets\.read$/"),
            variable("mount", "metrics(df.)", "File system", every="",
                     regex=r"/^df\.(.+)\.df_complex\.used$/"),
        ],
        annotations=[annotation("Of the load", "load.load.shortterm"),
                     annotation("Global annotations", "load.load.shortterm", everywhere=True)],
        tags=["collectd"], description="Machines, as collectd sends them by write_tsdb.")
