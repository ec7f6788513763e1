// How to send points with what people have: as texts to copy, with this server's name filled in.

export interface Recipe {
  id: string;
  name: string;
  text: string; // what it is, in a sentence
  steps: { title: string; code: string }[];
}

export interface Server {
  base: string; // with a slash at its end
  host: string;
  port: string;
  tls: boolean;
}

export function serverOf(location: Location): Server {
  const tls = location.protocol === "https:";
  return {
    base: new URL(".", location.href).href,
    host: location.hostname,
    port: location.port || (tls ? "443" : "80"),
    tls,
  };
}

// An agent that a file in its folder of settings points here.
function agent(what: Omit<Recipe, "steps"> & { folder: string; code: string }): Recipe {
  const { folder, code, ...recipe } = what;
  return {
    ...recipe,
    steps: [
      { title: `/etc/${what.id}/${folder}/halite.conf`, code },
      { title: "Then", code: `sudo systemctl restart ${what.id}` },
    ],
  };
}

function curl(server: Server): Recipe {
  const point = `{"metric":"my.first.metric","timestamp":'$(date +%s)',"value":42,"tags":{"host":"'$(hostname)'"}}`;
  return {
    id: "curl",
    name: "curl",
    text: "A point is a metric, a time, a number and at least one tag. To send several points, use an array.",
    steps: [
      {
        title: "One point over HTTP, in OpenTSDB's format",
        code: `curl -i -X POST ${server.base}api/put -H 'Content-Type: application/json' -d '${point}'`,
      },
      {
        title: "Send the load of this machine every 10 seconds",
        code:
          `while sleep 10; do\n` +
          `  curl -sS -X POST ${server.base}api/put -H 'Content-Type: application/json' \\\n` +
          `    -d '{"metric":"my.load","timestamp":'$(date +%s)',"value":'$(cut -d' ' -f1 /proc/loadavg)',"tags":{"host":"'$(hostname)'"}}'\n` +
          `done`,
      },
    ],
  };
}

function telnet(server: Server): Recipe {
  return {
    id: "telnet",
    name: "telnet",
    text: "The same port accepts OpenTSDB's lines: put, metric, time, value, tags. No answer means success.",
    steps: [
      {
        title: "One point with netcat",
        code: `echo "put my.first.metric $(date +%s) 42 host=$(hostname)" | nc -w 1 ${server.host} ${server.port}`,
      },
    ],
  };
}

function collectd(server: Server): Recipe {
  return agent({
    id: "collectd",
    name: "collectd",
    text: "Sends CPU, memory, disk and network metrics of a host every 10 seconds. On Debian and Ubuntu: apt install collectd.",
    folder: "collectd.conf.d",
    code:
      `LoadPlugin write_tsdb\n<Plugin write_tsdb>\n  <Node "halite">\n` +
      `    Host "${server.host}"\n    Port "${server.port}"\n  </Node>\n</Plugin>`,
  });
}

function telegraf(server: Server): Recipe {
  return agent({
    id: "telegraf",
    name: "Telegraf",
    text: "InfluxData's agent. Use its OpenTSDB output.",
    folder: "telegraf.d",
    code:
      `[[outputs.opentsdb]]\n  host = "${server.tls ? "https" : "http"}://${server.host}"\n` +
      `  port = ${server.port}\n  http_batch_size = 1000\n\n` +
      `[[inputs.cpu]]\n[[inputs.mem]]\n[[inputs.disk]]`,
  });
}

function python(server: Server): Recipe {
  return {
    id: "python",
    name: "Python",
    text: "Any language with HTTP works. This example needs only the standard library.",
    steps: [
      {
        title: "send.py",
        code:
          `import json, socket, time, urllib.request\n\n` +
          `points = [{"metric": "my.first.metric", "timestamp": int(time.time()), "value": 42,\n` +
          `           "tags": {"host": socket.gethostname()}}]\n` +
          `urllib.request.urlopen(urllib.request.Request(\n` +
          `    "${server.base}api/put", json.dumps(points).encode(), {"Content-Type": "application/json"}))`,
      },
    ],
  };
}

export function recipes(server: Server): Recipe[] {
  // Lines of telnet do not go through a server of TLS in front.
  const lines = server.tls ? [] : [telnet(server), collectd(server)];
  return [curl(server), ...lines, telegraf(server), python(server)];
}
