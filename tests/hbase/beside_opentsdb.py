"""What tests of Halite and a real OpenTSDB on one HBase share."""

import json
import os
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from cluster import Tables
from halite_server import HaliteServer

PATIENCE_SECONDS = 60
HOUR = 1356998400
TABLES = {"data": "tsdb", "uid": "tsdb-uid", "tree": "tsdb-tree", "meta": "tsdb-meta"}


def answer_of(request):
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        text = refused.read().decode(errors="replace")
        raise AssertionError(f"{refused.url} answers {refused.code}: {text}") from refused


def ask(url, query):
    series = answer_of(url + "/api/query?" + urllib.parse.quote(query, safe="=&"))
    return sorted(series, key=lambda one: (one["metric"], sorted(one["tags"].items())))


def post(url, path, body):
    return answer_of(urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}))


def settings(prefix, more):
    names = {f"tsd.storage.hbase.{kind}_table": prefix + name for kind, name in TABLES.items()}
    return {"tsd.core.auto_create_metrics": "true", "tsd.storage.enable_compaction": "false",
            "tsd.http.query.allow_delete": "true", **names, **more}


class BytesOnCluster(unittest.TestCase):
    TABLES = ("tsdb", "tsdb-uid")  # that dump() shows

    def halite_on(self, tables, prefix, more, *arguments):
        keys = {**settings(prefix, more), "tsd.storage.hbase.zk_quorum": tables.quorum}
        with tempfile.NamedTemporaryFile("w", suffix=".conf", delete=False, encoding="utf-8") as conf:
            conf.writelines(f"{key} = {value}\n" for key, value in keys.items())
        self.addCleanup(os.unlink, conf.name)
        server = HaliteServer("--opentsdb-conf", conf.name, *arguments, store="hbase")
        self.addCleanup(server.stop)
        return server

    def dump(self, tables, prefix):
        """What both write, without the times of writing."""
        return {(name, *cell): value for name in self.TABLES
                for cell, (_, value) in tables.dump(prefix + name).items()}

    def same_in_the_end(self, url, others):
        """OpenTSDB writes a while after it has taken a point."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            wrong = [query for query, answer in others.items() if ask(url, query) != answer]
            if not wrong:
                return
            if time.monotonic() > end:
                self.assertEqual(ask(url, wrong[0]), others[wrong[0]], wrong[0])
            time.sleep(0.5)

    def new_tables(self, name):
        """`name` may begin with a namespace and a colon."""
        tables = Tables.of_environment()
        if ":" in name:
            tables.tool("namespace", name.partition(":")[0])
        prefixes = f"{name}-ours-", f"{name}-theirs-"
        for prefix in prefixes:
            tables.tool("tsdb-tables", prefix, "NONE", "NONE")
        return tables, *prefixes
