#!/usr/bin/env python3
"""What Kerberos and TLS to HBase cost: the same points with each protection, one after the other, on one cluster.

    bench/secure_bench.py --halite build/release/halite [--rounds 3] [--hosts 1000] [--set NAME=VALUE]...

Starts a KDC and a secure HBase as the tests do (tests/hbase/kerberos.py). Prints medians of points by second of Halite's
own CPU, and what they cost more than without protection; also the CPU of queries. The order changes from round to round."""

import argparse
import json
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests", "hbase"), os.path.join(HERE, "..", "tests", "support")]
from cluster import Cluster  # noqa: E402
from hbase import HOUR_POINTS, TABLES, http_load, run_halite, telnet_load  # noqa: E402
from kerberos import Certificates, Realm, kerberos_properties  # noqa: E402


def sides_of(keytab, certificates):
    """{name: settings}, the one to compare with first."""
    kerberos = ["hbase.authentication=kerberos", f"hbase.keytab={keytab}"]
    tls = ["hbase.tls=true", f"hbase.tls_ca={certificates.folder}/ca.pem"]
    sides = {"none": []}
    for protection in ("auth", "auth-int", "auth-conf"):
        sides[protection] = [*kerberos, f"hbase.protection={protection}"]
    return {**sides, "TLS": tls, "TLS, auth": [*tls, *kerberos, "hbase.protection=auth"]}


def secure_cluster(folder, realm, certificates):
    realm.principal("hbase/localhost")
    server = realm.keytab("hbase/localhost")
    certificates.certificate("server")
    properties = {**kerberos_properties(server, "authentication,integrity,privacy"), **certificates.properties("server"),
                  "hbase.server.netty.tls.supportplaintext": "true", "hbase.server.netty.tls.client.auth.mode": "NONE",
                  "hbase.ipc.server.fallback-to-simple-auth-allowed": "true"}
    return Cluster(heap="3g", folder=os.path.join(folder, "hbase"), host="localhost", properties=properties,
                   environment=realm.environment,
                   jvm=[f"-Djava.security.krb5.conf={realm.environment['KRB5_CONFIG']}"])


def print_table(title, samples):
    names = list(samples)
    print(f"| {title} | {' | '.join(names)} |\n|---|{'--:|' * len(names)}")
    for row in samples[names[0]][0]:
        medians = [statistics.median(sample[row] for sample in samples[name]) for name in names]
        if "CPU" not in row:
            continue
        print(f"| {row} | {' | '.join(f'{median:,.{0 if medians[0] > 100 else 1}f}' for median in medians)} |")
        # Points by CPU second fall, the CPU of a query rises.
        costs = [(medians[0] / median if "points" in row else median / medians[0]) - 1 for median in medians]
        print(f"| more CPU | {' | '.join('' if i == 0 else f'{100 * cost:+.0f} %' for i, cost in enumerate(costs))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE of Halite")
    options = parser.parse_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    points = options.hosts * HOUR_POINTS
    loads = {name: make(f"bench.{name.replace(' ', '.')}", options.hosts, HOUR_POINTS, False)
             for name, make in (("telnet", telnet_load), ("http", http_load), ("warm telnet", telnet_load), ("warm http", http_load))}
    with tempfile.TemporaryDirectory(prefix="halite-secure-") as folder, Realm(folder) as realm:
        folder = os.path.realpath(folder)
        certificates = Certificates(folder)
        realm.principal("halite")
        keytab = realm.keytab("halite")
        realm.log_in(keytab, "halite")
        os.environ.update(realm.environment)
        sides = sides_of(keytab, certificates)
        samples = {name: [] for name in sides}
        with secure_cluster(folder, realm, certificates) as cluster:
            for number in range(options.rounds):
                order = list(sides)
                for name in order[number % len(order):] + order[:number % len(order)]:
                    prefix = f"bench{number}-{order.index(name)}-"
                    cluster.tool("tsdb-tables", prefix, "NONE", "DIFF")
                    sample = run_halite(cluster, prefix, loads, points, options.hosts, [*sides[name], *options.set])
                    samples[name].append(sample)
                    print(name, json.dumps({row: round(value, 2) for row, value in sample.items()}), file=sys.stderr)
                    cluster.tool("drop", *(prefix + table for table in TABLES.values()))
    print_table(f"{options.hosts} hosts, 1 h, {points:,} points, {options.rounds} rounds", samples)


if __name__ == "__main__":
    main()
