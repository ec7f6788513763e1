// How to send points with what people have: as texts to copy, with this server's address filled in.
import type { Address, Server } from "./server";

interface Step {
  title: string;
  code: string;
}

export interface Recipe {
  id: string; // in the page's address
  name: string;
  protocols: string[]; // as the server's counters name them
  text: string; // what it is, in a sentence or two
  steps: Step[]; // without a token, the first sends one point
}

// An agent that a file in its folder of settings points here.
function agent(id: string, name: string, folder: string, code: string): Step[] {
  return [
    { title: `${name}: /etc/${id}/${folder}/halite.conf`, code },
    { title: "Then", code: `sudo systemctl restart ${id}` },
  ];
}

function token(server: Server, name: string): Step[] {
  if (!server.token) return [];
  return [{ title: "On the server: append what this prints to auth.file. The line with # is the TOKEN, for the agent only", code: `halite auth token ${name} --roles write` }];
}

function onlyWithToken(server: Server, text: string): string {
  return server.token ? text : "";
}

function curlHeader(server: Server): string {
  return onlyWithToken(server, ` -H 'Authorization: Bearer TOKEN'`);
}

function http(server: Server): Recipe {
  const put = `${server.base}api/put${curlHeader(server)} -H 'Content-Type: application/json'`;
  const header = onlyWithToken(server, `, "Authorization": "Bearer TOKEN"`);
  return {
    id: "http",
    name: "OpenTSDB HTTP",
    protocols: ["http"],
    text: "A point is a metric, a time, a number and at least one tag. To send several points, use an array.",
    steps: [
      ...token(server, "scripts"),
      {
        title: "One point with curl",
        code: `curl -i -X POST ${put} -d '{"metric":"my.first.metric","timestamp":'$(date +%s)',"value":42,"tags":{"host":"'$(hostname)'"}}'`,
      },
      {
        title: "Send the load of this machine every 10 seconds",
        code:
          `while sleep 10; do\n` +
          `  curl -sS -X POST ${put} \\\n` +
          `    -d '{"metric":"my.load","timestamp":'$(date +%s)',"value":'$(cut -d' ' -f1 /proc/loadavg)',"tags":{"host":"'$(hostname)'"}}'\n` +
          `done`,
      },
      {
        title: "Python, with its standard library only",
        code:
          `import json, socket, time, urllib.request\n\n` +
          `points = [{"metric": "my.first.metric", "timestamp": int(time.time()), "value": 42,\n` +
          `           "tags": {"host": socket.gethostname()}}]\n` +
          `urllib.request.urlopen(urllib.request.Request(\n` +
          `    "${server.base}api/put", json.dumps(points).encode(), {"Content-Type": "application/json"${header}}))`,
      },
    ],
  };
}

function telnet(server: Server): Recipe {
  const login = onlyWithToken(server, "auth TOKEN\\n");
  return {
    id: "telnet",
    name: "OpenTSDB telnet",
    protocols: ["telnet"],
    text:
      "The same port accepts OpenTSDB's lines: put, metric, time, value, tags. Only refused lines are answered." +
      onlyWithToken(server, " collectd sends no token: it needs write in auth.anonymous."),
    steps: [
      ...token(server, "lines"),
      {
        title: "One point, in bash",
        code: `printf '${login}put my.first.metric %s 42 host=%s\\n' $(date +%s) $(hostname) > /dev/tcp/${server.host}/${server.port}`,
      },
      ...agent(
        "collectd",
        "collectd",
        "collectd.conf.d",
        `LoadPlugin write_tsdb\n<Plugin write_tsdb>\n  <Node "halite">\n` +
          `    Host "${server.host}"\n    Port "${server.port}"\n  </Node>\n</Plugin>`,
      ),
      { title: "tcollector", code: `./tcollector.py -H ${server.host} -p ${server.port}` },
    ],
  };
}

function prometheus(server: Server): Recipe {
  const write = `${server.base}api/v1/write`;
  const credentials = onlyWithToken(server, `    authorization:\n      credentials: TOKEN\n`);
  return {
    id: "prometheus",
    name: "Prometheus",
    protocols: ["remote_write", "prometheus", "vmjson"],
    text: "Prometheus, vmagent and Grafana Alloy send by remote_write, versions 1.0 and 2.0. Scripts can send the text of a /metrics page.",
    steps: [
      ...token(server, "prometheus"),
      {
        title: "One point with curl, as text",
        code: `echo "my_first_metric{host=\\"$(hostname)\\"} 42" | curl -i --data-binary @- ${server.base}api/v1/import/prometheus${curlHeader(server)}`,
      },
      {
        title: "Prometheus: in prometheus.yml",
        code: `remote_write:\n  - url: ${write}\n${credentials}    send_exemplars: false\n    send_native_histograms: false`,
      },
      {
        title: "vmagent",
        code: `vmagent -promscrape.config=prometheus.yml -remoteWrite.url=${write}${onlyWithToken(server, " -remoteWrite.bearerToken=TOKEN")}`,
      },
    ],
  };
}

function otlp(server: Server): Recipe {
  const point = `{"asDouble":42,"timeUnixNano":"'$(date +%s%N)'","attributes":[{"key":"host","value":{"stringValue":"'$(hostname)'"}}]}`;
  return {
    id: "otlp",
    name: "OpenTelemetry",
    protocols: ["otlp"],
    text: "OTLP over HTTP, in protobuf or JSON; not gRPC. Send sums and histograms as cumulative ones.",
    steps: [
      ...token(server, "opentelemetry"),
      {
        title: "One point with curl",
        code:
          `curl -i ${server.base}v1/metrics${curlHeader(server)} -H 'Content-Type: application/json' \\\n` +
          `  -d '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"my.first.metric","gauge":{"dataPoints":[${point}]}}]}]}]}'`,
      },
      {
        title: "Collector",
        code:
          `exporters:\n  otlphttp/halite:\n    endpoint: ${server.base.replace(/\/$/, "")}\n` +
          onlyWithToken(server, `    headers: {Authorization: "Bearer TOKEN"}\n`) +
          `service:\n  pipelines:\n    metrics:\n      receivers: [otlp]\n      exporters: [otlphttp/halite]`,
      },
      {
        title: "An SDK of any language",
        code:
          `export OTEL_METRICS_EXPORTER=otlp\n` +
          `export OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf\n` +
          `export OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=${server.base}v1/metrics\n` +
          onlyWithToken(server, `export OTEL_EXPORTER_OTLP_METRICS_HEADERS="Authorization=Bearer%20TOKEN"\n`) +
          `export OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=cumulative`,
      },
    ],
  };
}

function influx(server: Server): Recipe {
  return {
    id: "influx",
    name: "Telegraf, InfluxDB",
    protocols: ["influx"],
    text: "The line protocol of InfluxDB 1, 2 and 3. Organization and bucket may have any name.",
    steps: [
      ...token(server, "telegraf"),
      {
        title: "One point with curl",
        code: `curl -i '${server.base}api/v2/write?bucket=any'${curlHeader(server)} --data-binary "my_first_metric,host=$(hostname) value=42"`,
      },
      ...agent(
        "telegraf",
        "Telegraf",
        "telegraf.d",
        `[[outputs.influxdb_v2]]\n  urls = ["${server.base.replace(/\/$/, "")}"]\n` +
          onlyWithToken(server, `  token = "TOKEN"\n`) +
          `  organization = "any"\n  bucket = "any"\n\n` +
          `[[inputs.cpu]]\n[[inputs.mem]]\n[[inputs.disk]]`,
      ),
    ],
  };
}

function graphiteLines({ host, port }: Address): Step[] {
  return [
    {
      title: "One point, in bash",
      code: `echo "my.first.metric;host=$(hostname) 42 $(date +%s)" > /dev/tcp/${host}/${port}`,
    },
    ...agent(
      "collectd",
      "collectd",
      "collectd.conf.d",
      `LoadPlugin write_graphite\n<Plugin write_graphite>\n  <Node "halite">\n` +
        `    Host "${host}"\n    Port "${port}"\n    Protocol "tcp"\n    EscapeCharacter "_"\n  </Node>\n</Plugin>`,
    ),
  ];
}

function graphitePickles({ host, port }: Address): Step[] {
  return [{ title: "carbon-relay: in carbon.conf", code: `[relay]\nDESTINATIONS = ${host}:${port}:a\nUSE_FLOW_CONTROL = True` }];
}

// What opens the ports.
function graphiteOff({ graphite: { bind, anonymous } }: Server): Step[] {
  const auth = anonymous ? `\n\n[auth]\nanonymous = "${anonymous}"   # this opens /api/put too` : "";
  return [
    {
      title: "In halite.toml. Then restart the server, and load this page again",
      code: `[graphite]\nlisten = "${bind}:2003"          # plain text\npickle_listen = "${bind}:2004"   # pickles, of carbon-relay${auth}`,
    },
  ];
}

function graphite(server: Server): Recipe {
  const { lines, pickles } = server.graphite;
  const off = lines === null && pickles === null;
  return {
    id: "graphite",
    name: "Graphite",
    protocols: ["graphite"],
    text: off
      ? "Plain text and pickles have ports of their own, which are off on this server. They have no login: let only your senders reach them."
      : "Plain text and pickles have ports of their own. Nothing is ever answered: Status shows refused points.",
    steps: off ? graphiteOff(server) : [...(lines ? graphiteLines(lines) : []), ...(pickles ? graphitePickles(pickles) : [])],
  };
}

// Their ids do not depend on the settings.
export function recipes(server: Server): Recipe[] {
  // Lines of telnet do not go through a server of TLS in front.
  const lines = server.tls ? [] : [telnet(server)];
  return [http(server), ...lines, prometheus(server), otlp(server), influx(server), graphite(server)];
}
