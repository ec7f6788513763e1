import assert from "node:assert/strict";
import test from "node:test";
import { Numbers } from "../../../web/ui/src/server/status";
import { Arrivals } from "../../../web/ui/src/start/arrivals";
import { recipes, type Recipe } from "../../../web/ui/src/start/recipes";
import { serverOf } from "../../../web/ui/src/start/server";

const kOpen = { listen: "127.0.0.1:4242", "auth.file": "", "auth.anonymous": "auto", "graphite.listen": "", "graphite.pickle_listen": "" };

// All recipes of the server whose page has this address, by their ids.
function at(href: string, settings: Record<string, string> = kOpen): Map<string, Recipe> {
  const { protocol, hostname, port } = new URL(href);
  return new Map(recipes(serverOf({ protocol, hostname, port, href }, settings)).map((recipe) => [recipe.id, recipe]));
}

function codeOf(recipe: Recipe | undefined): string {
  return (recipe?.steps ?? []).map(({ code }) => code).join("\n\n");
}

function numbers(taken: Record<string, number>, refused: Record<string, number> = {}): Numbers {
  const lines = (name: string, of: Record<string, number>): { metric: string; timestamp: number; value: string; tags: Record<string, string> }[] =>
    Object.entries(of).map(([protocol, n]) => ({ metric: `tsd.halite.ingest.${name}`, timestamp: 1, value: String(n), tags: { protocol } }));
  return new Numbers([...lines("points_total", taken), ...lines("points_refused_total", refused)], 0);
}

test("each protocol has a recipe with the address of the server", () => {
  const all = at("http://tsd.example.com:4242/#/start", { ...kOpen, listen: "0.0.0.0:4242", "graphite.listen": ":2003" });
  assert.deepEqual([...all.keys()], ["http", "telnet", "prometheus", "otlp", "influx", "graphite"]);
  const wanted: Record<string, string[]> = {
    http: ["curl -i -X POST http://tsd.example.com:4242/api/put ", '"http://tsd.example.com:4242/api/put"'],
    telnet: ["> /dev/tcp/tsd.example.com/4242", 'Host "tsd.example.com"\n    Port "4242"', "-H tsd.example.com -p 4242"],
    prometheus: ["http://tsd.example.com:4242/api/v1/import/prometheus", "  - url: http://tsd.example.com:4242/api/v1/write\n", "-remoteWrite.url=http://tsd.example.com:4242/api/v1/write"],
    otlp: ["curl -i http://tsd.example.com:4242/v1/metrics ", "endpoint: http://tsd.example.com:4242\n", "_ENDPOINT=http://tsd.example.com:4242/v1/metrics\n"],
    influx: ["'http://tsd.example.com:4242/api/v2/write?bucket=any'", 'urls = ["http://tsd.example.com:4242"]'],
    graphite: ["> /dev/tcp/tsd.example.com/2003", 'Port "2003"'],
  };
  for (const [id, texts] of Object.entries(wanted)) {
    const code = codeOf(all.get(id));
    for (const text of texts) assert.ok(code.includes(text), `${id} without ${text}:\n${code}`);
    assert.ok(!code.includes("TOKEN"), `${id}: no token is needed here`);
  }
});

test("every counter of received points belongs to one recipe", () => {
  const counted = [...at("http://a:4242/").values()].flatMap(({ protocols }) => protocols);
  assert.deepEqual(counted.sort(), ["graphite", "http", "influx", "otlp", "prometheus", "remote_write", "telnet", "vmjson"]);
});

test("a server with accounts asks for a token, in each agent's way", () => {
  const accounts = { ...kOpen, "auth.file": "/etc/halite/accounts.toml" };
  const all = at("http://tsd:4242/", accounts);
  const wanted: Record<string, string[]> = {
    http: ["-H 'Authorization: Bearer TOKEN'", '"Authorization": "Bearer TOKEN"'],
    telnet: ["printf 'auth TOKEN\\nput "],
    prometheus: ["    authorization:\n      credentials: TOKEN\n", "-remoteWrite.bearerToken=TOKEN"],
    otlp: ['headers: {Authorization: "Bearer TOKEN"}', "Bearer%20TOKEN"],
    influx: ['  token = "TOKEN"\n'],
  };
  for (const [id, texts] of Object.entries(wanted)) {
    const recipe = all.get(id);
    assert.ok(recipe?.steps[0].code.startsWith("halite auth token "), `${id} begins with the token`);
    for (const text of texts) assert.ok(codeOf(recipe).includes(text), `${id} without ${text}:\n${codeOf(recipe)}`);
  }
  for (const anonymous of ["write", "read, write", "admin"]) {
    assert.ok(!codeOf(at("http://tsd:4242/", { ...accounts, "auth.anonymous": anonymous }).get("http")).includes("TOKEN"), anonymous);
  }
  assert.ok(codeOf(at("http://tsd:4242/", { ...accounts, "auth.anonymous": "read" }).get("http")).includes("TOKEN"));
});

test("Graphite shows which settings open its ports while they are off", () => {
  const off = (settings: Record<string, string>): string => codeOf(at("http://localhost:4242/", { ...kOpen, ...settings }).get("graphite"));
  assert.ok(off({}).startsWith('[graphite]\nlisten = "127.0.0.1:2003" '), off({}));
  assert.ok(!off({}).includes("[auth]"));
  assert.ok(off({ listen: "[::1]:4242" }).includes('"[::1]:2003"'));
  const others = off({ listen: ":4242", "auth.anonymous": "read" });
  assert.ok(others.includes('listen = "0.0.0.0:2003"') && others.includes('[auth]\nanonymous = "read,write"'), others);
  assert.ok(off({ "auth.file": "/a" }).includes('anonymous = "write"'));
  assert.ok(!off({ listen: ":4242", "auth.anonymous": "write" }).includes("[auth]"));
  assert.ok(codeOf(at("http://localhost:4242/", {}).get("graphite")).startsWith("[graphite]"), "while settings are unknown");
});

test("Graphite has a recipe for each port that is open", () => {
  const lines = codeOf(at("http://tsd:4242/", { ...kOpen, "graphite.listen": "10.0.0.5:2003" }).get("graphite"));
  assert.ok(lines.includes("/dev/tcp/10.0.0.5/2003") && !lines.includes("DESTINATIONS"), lines);
  const pickles = codeOf(at("http://tsd:4242/", { ...kOpen, "graphite.pickle_listen": "[::]:2004" }).get("graphite"));
  assert.ok(pickles.includes("DESTINATIONS = tsd:2004:a") && !pickles.includes("/dev/tcp"), pickles);
});

test("a server of TLS in front has no lines of telnet, and its path stays", () => {
  const all = at("https://example.com/halite/#/start");
  assert.ok(!all.has("telnet"));
  assert.ok(codeOf(all.get("otlp")).includes("endpoint: https://example.com/halite\n"));
  assert.ok(codeOf(all.get("influx")).includes('urls = ["https://example.com/halite"]'));
});

test("an IPv6 address has brackets only in URLs", () => {
  const all = at("http://[::1]:4242/");
  assert.ok(codeOf(all.get("http")).includes("http://[::1]:4242/api/put"));
  assert.ok(codeOf(all.get("telnet")).includes("/dev/tcp/::1/4242"));
});

test("arrivals count from the first numbers on, each protocol by itself", () => {
  const arrivals = new Arrivals();
  assert.ok(!arrivals.begun);
  arrivals.take(numbers({ http: 100, otlp: 7 }, { telnet: 3 }));
  assert.ok(arrivals.begun);
  assert.equal(arrivals.points(["http"]), 0);
  assert.equal(arrivals.refusedPoints(["telnet"]), 0);
  arrivals.take(numbers({ http: 100, otlp: 9 }, { telnet: 4 }));
  assert.equal(arrivals.points(["http"]), 0);
  assert.equal(arrivals.points(["otlp"]), 2);
  assert.equal(arrivals.points(["http", "otlp", "nosuch"]), 2);
  assert.equal(arrivals.refusedPoints(["telnet"]), 1);
});

test("arrivals go on when the server starts anew and counts from zero", () => {
  const arrivals = new Arrivals();
  arrivals.take(numbers({ http: 100 }));
  arrivals.take(numbers({ http: 105 }));
  arrivals.take(numbers({ http: 2 }));
  assert.equal(arrivals.points(["http"]), 7);
  arrivals.take(numbers({ http: 0 }));
  assert.equal(arrivals.points(["http"]), 7);
});
