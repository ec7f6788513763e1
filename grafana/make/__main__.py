"""Writes the dashboards and alert rules of grafana/provisioning: python3 grafana/make

With --check nothing is written; it fails where a file is not what would be.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import alerts  # noqa: E402
import hosts  # noqa: E402
import hosts_promql  # noqa: E402
import metric  # noqa: E402
import server  # noqa: E402
import server_promql  # noqa: E402

INTO = pathlib.Path(__file__).resolve().parent.parent / "provisioning"


def files():
    return {
        INTO / "dashboards/halite/server.json": server.make(),
        INTO / "dashboards/halite/hosts.json": hosts.make(),
        INTO / "dashboards/halite/server_promql.json": server_promql.make(),
        INTO / "dashboards/halite/hosts_promql.json": hosts_promql.make(),
        INTO / "dashboards/halite/metric.json": metric.make(),
        INTO / "dashboards/halite/alerts.json": alerts.make(),
        INTO / "alerting/halite.json": alerts.make_rules(),
    }


def main():
    stale = []
    for path, made in files().items():
        text = json.dumps(made, indent=1) + "\n"
        if path.exists() and path.read_text() == text:
            continue
        stale.append(str(path))
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(path)
    if stale and "--check" in sys.argv:
        sys.exit(f"not what python3 grafana/make writes: {', '.join(stale)}")


if __name__ == "__main__":
    main()
