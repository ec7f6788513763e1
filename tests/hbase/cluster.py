"""A real HBase (and a real OpenTSDB on it) as child processes, in a folder of its own on ports of its own.

    with Cluster() as cluster:              # one JVM; Cluster(region_servers=2): each server its own
        cluster.quorum                      # "127.0.0.1:PORT"; the znode parent is /hbase
        cluster.tool("list")                # HbaseTool: tables, dump, regions, move, split
        cluster.kill("rs0")                 # kill -9; its regions open elsewhere some 13 s later

Everything listens on 127.0.0.1. The servers end with the process that started them, however that ends. Edits survive
kill -9 of a server, not a crash of the operating system. ZooKeeper's sessions last `session_ms`: that long, a killed
region server goes unnoticed. Without a `folder` its data is thrown away with it, and it ends by kill -9."""

import concurrent.futures
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import jars
from jars import HERE, Trouble

START_SECONDS = 180
SESSION_MS = 10_000
STOP_SECONDS = 20  # more only where a killed server is being recovered, for nobody
START_ATTEMPTS = 3  # each with other ports: somebody may take one between our look and the server's

# What Hadoop and HBase want opened of a JDK that is newer than they are.
_OPENED = ("java.io", "java.lang", "java.lang.reflect", "java.net", "java.nio", "java.util",
           "java.util.concurrent", "jdk.internal.ref", "sun.nio.ch")
_EXPORTED = ("java.base/jdk.internal.misc", "java.base/sun.net.dns", "java.base/sun.net.util",
             "java.security.jgss/sun.security.krb5")
# The quick compiler alone: in the minutes that a cluster lives, the other one costs more than it gains.
JVM = ["-Djava.net.preferIPv4Stack=true", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC",
       "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
       "--add-modules", "jdk.unsupported",
       *[word for name in _EXPORTED for word in ("--add-exports", f"{name}=ALL-UNNAMED")],
       *[word for name in _OPENED for word in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]]

_libc = ctypes.CDLL(None)


def _end_with_parent():
    PR_SET_PDEATHSIG = 1
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_ports(count):
    """Below the ports that the system gives to clients, or a client might take one meanwhile."""
    ports = []
    while len(ports) < count:
        port = random.SystemRandom().randrange(18_000, 32_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


class JavaServer:
    def __init__(self, name, command, log_path, stdout=None):
        """stdout: elsewhere than into the log."""
        self.name = name
        self.log_path = log_path
        with open(log_path, "ab") as log:
            # A session of its own: ctrl-C is for us, who then stop it in order.
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout or log, stderr=log,
                                            start_new_session=True, preexec_fn=_end_with_parent)

    def running(self):
        return self.process.poll() is None

    def log_tail(self, lines=12):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return "".join(line[:300] for line in log.readlines()[-lines:])

    def signal(self, how):
        if self.running():
            self.process.send_signal(how)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def await_end(self, end):
        """False: it still runs at the time `end`."""
        try:
            self.process.wait(max(0.0, end - time.monotonic()))
            return True
        except subprocess.TimeoutExpired:
            return False


class Tables:
    """The tables of a cluster that runs, whoever started it."""

    def __init__(self, folder, quorum, tool_port):
        self.folder = folder
        self.quorum = quorum
        self.tool_port = tool_port

    @staticmethod
    def of_environment():
        """Of the cluster that run.py made for its command."""
        try:
            return Tables(os.environ["HALITE_TEST_HBASE_FOLDER"], os.environ["HALITE_TEST_HBASE"],
                          int(os.environ["HALITE_TEST_HBASE_TOOL"]))
        except KeyError as missing:
            raise Trouble(f"{missing} is not set: run this by ./dev test-hbase") from None

    def tool(self, *arguments, check=True, seconds=START_SECONDS):
        """HbaseTool with these arguments; a completed process with its output as text."""
        try:
            with socket.create_connection(("127.0.0.1", self.tool_port), timeout=seconds) as connection:
                connection.sendall(("\t".join(arguments) + "\n").encode())
                with connection.makefile(encoding="utf-8", newline="\n") as answer:
                    told = answer.read()
        except OSError as gone:
            told = f"\0001\nit says nothing: {gone}"
        output, end, verdict = told.rpartition("\0")
        code, _, trouble = verdict.partition("\n")
        done = subprocess.CompletedProcess(arguments, int(code) if end else 1, output, trouble)
        if check and done.returncode != 0:
            raise Trouble(f"HbaseTool {' '.join(arguments)}: {done.stderr}")
        return done

    def dump(self, table):
        """{(row, family, qualifier): (time, value)} of what a reader sees, in hex but for family and time."""
        cells = {}
        for line in self.tool("dump", table).stdout.splitlines():
            row, family, qualifier, stamp, value = line.split("\t")
            cells[row, family, qualifier] = (int(stamp), value)
        return cells


def _property_lines(properties):
    return "\n".join(f"  <property><name>{name}</name><value>{value}</value></property>"
                     for name, value in properties.items())


class Cluster(Tables):
    """`region_servers` 0: all in one JVM, which is what most tests want. `host`: the name of the servers in hbase:meta;
    `properties`: more of hbase-site.xml; `environment` and `jvm`: of all its processes. `root`: a URL for HBase's
    files; default: below the folder."""

    def __init__(self, region_servers=0, heap="512m", folder=None, session_ms=SESSION_MS, host="127.0.0.1",
                 properties=None, environment=None, jvm=(), root=None):
        super().__init__(folder or tempfile.mkdtemp(prefix="halite-hbase-"), None, None)
        self._class_path = jars.class_path("hbase")
        self._tool = None  # a JavaServer
        self.region_servers = region_servers
        self.heap = heap
        self._root = root or f"file://{self.folder}/data"
        self.session_ms = session_ms  # of ZooKeeper: that long, a server that is dead goes unnoticed
        self._keep = folder is not None
        self.host = host
        self.properties = properties or {}
        self.environment = environment or {}
        self._jvm = list(jvm)
        self.servers = {}  # name: JavaServer
        self.port = {}     # name: port

    # ---- start and stop ---------------------------------------------------------------------

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Ready for tables when it returns."""
        for attempt in range(1, START_ATTEMPTS + 1):
            self._write_configuration()
            self._launch_tool()
            for name in self._names():
                self._launch(name)
            trouble = self._await_ready()
            if trouble is None:
                return self
            self.kill_all()
            taken = "Address already in use" in trouble
            if attempt == START_ATTEMPTS or not taken:
                raise Trouble(trouble)
            self.port.clear()
        raise AssertionError("not reached")

    def stop(self):
        """In order where the data is kept and that works, so that nothing is left to recover; in any case, they end."""
        running = [server for server in self.servers.values() if server.running()]
        if running and self.port and self._keep:
            end = time.monotonic() + STOP_SECONDS
            others = [server for server in running if server.name != "zookeeper"]
            if self.tool("shutdown", check=False, seconds=STOP_SECONDS).returncode != 0:
                for server in others:
                    server.signal(signal.SIGTERM)
            for server in others:
                server.await_end(end)
        for server in running:
            server.kill()
        if self._tool is not None:
            self._tool.kill()
        if not self._keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _names(self):
        if self.region_servers == 0:
            return ["standalone"]
        return ["zookeeper", "master", *[f"rs{i}" for i in range(self.region_servers)]]

    def choose_ports(self):
        """start() does, too; for who wants to know the quorum before."""
        wanted = ["zookeeper", "master", "master_web"]
        for i in range(max(1, self.region_servers)):
            wanted += [f"rs{i}", f"rs{i}_web"]
        if not self.port:
            self.port = dict(zip(wanted, free_ports(len(wanted))))
        self.quorum = f"127.0.0.1:{self.port['zookeeper']}"

    def _write_configuration(self):
        self.choose_ports()
        for name in ("conf", "data", "logs", "tmp", "zk"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        values = {"DIR": self.folder, "ROOT": self._root, "ZKPORT": self.port["zookeeper"],
                  "MASTER_PORT": self.port["master"], "MASTER_WEB_PORT": self.port["master_web"],
                  "RS_PORT": self.port["rs0"], "RS_WEB_PORT": self.port["rs0_web"],
                  "REGION_SERVERS": max(1, self.region_servers), "SESSION_MS": self.session_ms,
                  "DISTRIBUTED": "true" if self.region_servers else "false", "HOST": self.host,
                  "PROPERTIES": _property_lines(self.properties)}
        with open(os.path.join(HERE, "hbase-site.xml.in"), encoding="utf-8") as template:
            text = template.read()
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        with open(os.path.join(self.folder, "conf", "hbase-site.xml"), "w", encoding="utf-8") as out:
            out.write(text)
        with open(os.path.join(self.folder, "conf", "core-site.xml"), "w", encoding="utf-8") as out:
            out.write(f"<configuration>\n{_property_lines(self.properties)}\n</configuration>\n")
        shutil.copy(os.path.join(HERE, "log4j.properties"), os.path.join(self.folder, "conf"))

    def _launch(self, name):
        package = "org.apache.hadoop.hbase"
        main = {"standalone": (f"{package}.master.HMaster",), "master": (f"{package}.master.HMaster",),
                "zookeeper": (f"{package}.zookeeper.HQuorumPeer",)}.get(name)
        if main is None:
            main = (f"{package}.regionserver.HRegionServer",
                    "-D", f"hbase.regionserver.port={self.port[name]}",
                    "-D", f"hbase.regionserver.info.port={self.port[name + '_web']}")
        heap = "256m" if name == "zookeeper" else self.heap
        command = self._java(*main, "start")
        command.insert(command.index("java") + 1, f"-Xmx{heap}")
        self.servers[name] = JavaServer(name, command, os.path.join(self.folder, "logs", name + ".log"))

    def _java(self, *arguments, level="INFO"):
        class_path = os.path.join(self.folder, "conf") + ":" + self._class_path
        return ["env", *(f"{name}={value}" for name, value in self.environment.items()),
                "java", *JVM, *self._jvm, f"-Dhalite.log.level={level}", "-cp", class_path, *arguments]

    def _launch_tool(self):
        """A new one for each start: what it knows of the servers goes with it."""
        if self._tool is not None:
            self._tool.kill()
        log = os.path.join(self.folder, "logs", "tool.log")
        command = self._java("-Xmx256m", "HbaseTool", level="FATAL")
        self._tool = JavaServer("tool", command, log, stdout=subprocess.PIPE)
        with self._tool.process.stdout as told:
            port = told.readline().strip()
        if not port:
            raise Trouble(f"HbaseTool did not start:\n{self._tool.log_tail()}")
        self.tool_port = int(port)

    def _await_ready(self):
        """None when it is, else what went wrong."""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(self.tool, "wait", str(START_SECONDS), check=False, seconds=2 * START_SECONDS)
            while not waiting.done():
                for server in self.servers.values():
                    if not server.running():
                        self._tool.kill()  # which ends the waiting
                        return f"{server.name} ended while it started:\n{server.log_tail()}"
                time.sleep(0.05)
        if waiting.result().returncode == 0:
            return None
        logs = "\n".join(f"---- {server.name}\n{server.log_tail()}" for server in self.servers.values())
        return f"HBase was not ready within {START_SECONDS} s: {waiting.result().stderr}\n{logs}"

    # ---- while it runs ----------------------------------------------------------------------

    def kill(self, name):
        """kill -9 of "master", "zookeeper", "rs0", ..."""
        self.servers[name].kill()

    def kill_all(self):
        for server in self.servers.values():
            server.kill()

    def launch(self, name):
        """Starts again what was killed; it may take a while until it serves."""
        self._launch(name)

    def pause(self, name):
        self.servers[name].signal(signal.SIGSTOP)

    def resume(self, name):
        self.servers[name].signal(signal.SIGCONT)

    def region_server_of(self, server_name):
        """"rs0" for "127.0.0.1,PORT,..." as HbaseTool prints it."""
        port = int(server_name.split(",")[1])
        return next(name for name in self.servers if self.port[name] == port)


class OpenTsdb:
    """A real OpenTSDB on the tables of a cluster; `settings` are keys of opentsdb.conf."""

    def __init__(self, cluster, settings=None, heap="512m"):
        self.port = free_ports(1)[0]
        self._folder = tempfile.mkdtemp(prefix="tsd-", dir=cluster.folder)
        for name in ("cache", "static"):
            os.makedirs(os.path.join(self._folder, name))
        shutil.copy(os.path.join(HERE, "logback.xml"), self._folder)
        keys = {"tsd.network.port": self.port, "tsd.network.bind": "127.0.0.1",
                "tsd.network.worker_threads": 4, "tsd.http.request.enable_chunked": "true",
                "tsd.http.staticroot": os.path.join(self._folder, "static"),
                "tsd.http.cachedir": os.path.join(self._folder, "cache"),
                "tsd.core.auto_create_metrics": "true", "tsd.core.plugin_path": "",
                "tsd.storage.hbase.zk_quorum": cluster.quorum, "tsd.storage.hbase.zk_basedir": "/hbase",
                "tsd.storage.fix_duplicates": "true", **(settings or {})}
        conf = os.path.join(self._folder, "opentsdb.conf")
        with open(conf, "w", encoding="utf-8") as out:
            out.writelines(f"{key} = {value}\n" for key, value in keys.items())
        class_path = self._folder + ":" + jars.class_path("opentsdb")
        self._server = JavaServer("opentsdb", ["java", f"-Xmx{heap}", *JVM, "-cp", class_path,
                                               "net.opentsdb.tools.TSDMain", f"--config={conf}"],
                                  os.path.join(self._folder, "log"))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self):
        return self._server.process.pid

    def __enter__(self):
        end = time.monotonic() + START_SECONDS
        # One that fails in its start may stay alive, without a listener.
        while time.monotonic() < end and self._server.running():
            try:
                with urllib.request.urlopen(self.url + "/api/version", timeout=5):
                    return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        self._server.kill()
        raise Trouble(f"OpenTSDB did not come up:\n{self._server.log_tail()}")

    def __exit__(self, *_):
        """It writes what it holds before it ends."""
        self._server.signal(signal.SIGTERM)
        self._server.await_end(time.monotonic() + STOP_SECONDS)
        self._server.kill()
