// This server as its senders see it: its addresses, and what its settings ask of them.

export interface Address {
  host: string; // without the brackets of an IPv6 address
  port: string;
}

export interface Server extends Address {
  base: string; // with a slash at its end
  urlHost: string; // the host as URLs have it
  tls: boolean;
  token: boolean; // writing requires one
  graphite: {
    lines: Address | null; // null: the port is off
    pickles: Address | null;
    bind: string; // the address for new ports: that of the server's own
    anonymous: string; // what auth.anonymous must be for new ports; empty: it is right
  };
}

const kEverywhere = ["", "*", "0.0.0.0", "::"];

// ADDRESS:PORT. A part that names no port is empty.
function addressOf(listen: string): Address {
  const colon = listen.lastIndexOf(":");
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ""), port: listen.slice(colon + 1) };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

// `settings` are those of /api/config, or none while they are unknown.
export function serverOf(location: Pick<Location, "protocol" | "hostname" | "port" | "href">, settings: Record<string, string> = {}): Server {
  const tls = location.protocol === "https:";
  const host = location.hostname.replace(/^\[|\]$/g, "");
  const file = settings["auth.file"] ?? "";
  const roles = (settings["auth.anonymous"] ?? "").split(",").map((role) => role.trim());
  const anyone = roles.includes("write") || roles.includes("admin");
  const own = addressOf(settings.listen ?? "127.0.0.1:4242").host;
  const reached = (name: string): Address | null => {
    if (!settings[name]) return null;
    const address = addressOf(settings[name]);
    return kEverywhere.includes(address.host) ? { ...address, host } : address;
  };
  return {
    base: new URL(".", location.href).href,
    urlHost: location.hostname,
    host,
    port: location.port || (tls ? "443" : "80"),
    tls,
    token: file !== "" && !anyone,
    graphite: {
      lines: reached("graphite.listen"),
      pickles: reached("graphite.pickle_listen"),
      bind: bracketed(kEverywhere.includes(own) ? "0.0.0.0" : own),
      anonymous: anyone || (file === "" && isLoopback(own)) ? "" : [...roles.filter((role) => role === "read"), "write"].join(","),
    },
  };
}
