"""A real HDFS as child processes: a NameNode and a DataNode on 127.0.0.1, from the jars of HBase.

    with Hdfs() as hdfs:
        hdfs.url                                  # hdfs://127.0.0.1:PORT
        hdfs.web                                  # 127.0.0.1:PORT, of WebHDFS
        hdfs.web_hdfs("PUT", "/dir", op="MKDIRS") # as the user who started it, who may do all

Its data is thrown away with it."""

import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import jars
from cluster import JVM, JavaServer, free_ports
from jars import HERE, Trouble

START_SECONDS = 180
WEB_XML = '<web-app xmlns="http://java.sun.com/xml/ns/javaee" version="3.0"/>'


class Hdfs:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="halite-hdfs-")
        self._rpc, self._http, *self._data_ports = free_ports(5)
        self.url = f"hdfs://127.0.0.1:{self._rpc}"
        self.web = f"127.0.0.1:{self._http}"
        self.user = subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
        self._servers = []
        self._class_path = f"{self.folder}:{jars.class_path('hbase')}"

    def _configure(self):
        data, http, ipc = self._data_ports
        files = {"core-site.xml": {"fs.defaultFS": self.url, "hadoop.tmp.dir": f"{self.folder}/tmp"},
                 "hdfs-site.xml": {"dfs.replication": 1, "dfs.namenode.name.dir": f"{self.folder}/names",
                                   "dfs.datanode.data.dir": f"{self.folder}/blocks", "dfs.namenode.http-address": self.web,
                                   "dfs.namenode.rpc-bind-host": "127.0.0.1", "dfs.datanode.address": f"127.0.0.1:{data}",
                                   "dfs.datanode.http.address": f"127.0.0.1:{http}", "dfs.datanode.ipc.address": f"127.0.0.1:{ipc}",
                                   "dfs.datanode.hostname": "localhost", "dfs.namenode.safemode.extension": 0,
                                   "dfs.namenode.datanode.registration.ip-hostname-check": "false"}}
        for name, values in files.items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
                properties = "".join(f"<property><name>{key}</name><value>{value}</value></property>" for key, value in values.items())
                out.write(f"<configuration>{properties}</configuration>")
        for part in ("hdfs", "datanode"):
            os.makedirs(os.path.join(self.folder, "webapps", part, "WEB-INF"))
            with open(os.path.join(self.folder, "webapps", part, "WEB-INF", "web.xml"), "w", encoding="utf-8") as out:
                out.write(WEB_XML)
        shutil.copy(os.path.join(HERE, "log4j.properties"), self.folder)

    def _java(self, kind, *arguments):
        return ["java", "-Xmx256m", *JVM, "-Dhalite.log.level=INFO", "-cp", self._class_path,
                f"org.apache.hadoop.hdfs.server.{kind}", *arguments]

    def __enter__(self):
        try:
            self._configure()
            subprocess.run(self._java("namenode.NameNode", "-format", "-nonInteractive"), check=True, capture_output=True)
            for kind in ("namenode.NameNode", "datanode.DataNode"):
                self._servers.append(JavaServer(kind, self._java(kind), os.path.join(self.folder, kind + ".log")))
            self._await_data_node()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for server in self._servers:
            server.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _await_data_node(self):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and all(server.running() for server in self._servers):
            try:
                location = self.web_hdfs("PUT", "/.probe", op="CREATE", noredirect="true", overwrite="true")["Location"]
                request = urllib.request.Request(location, b"x", method="PUT")
                with urllib.request.urlopen(request, timeout=10):
                    return
            except (OSError, KeyError, urllib.error.HTTPError):
                time.sleep(0.3)
        raise Trouble("HDFS did not come up:\n" + "\n".join(server.log_tail() for server in self._servers))

    def web_hdfs(self, method, path, **parameters):
        query = urllib.parse.urlencode({"user.name": self.user, **parameters})
        request = urllib.request.Request(f"http://{self.web}/webhdfs/v1{path}?{query}", method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "{}")

    def names(self, path):
        listed = self.web_hdfs("GET", path, op="LISTSTATUS")
        return [status["pathSuffix"] for status in listed["FileStatuses"]["FileStatus"]]
