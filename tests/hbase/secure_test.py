"""Halite and a secure HBase: Kerberos with each protection, TLS, both, and what it says when something is wrong. Makes a
realm, certificates and clusters of its own."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from cluster import Cluster  # noqa: E402
from halite_server import HaliteServer  # noqa: E402
from jars import Trouble  # noqa: E402
from kerberos import REALM, Certificates, Realm, kerberos_properties  # noqa: E402
from server_process import clean_environment  # noqa: E402

PATIENCE_SECONDS = 60
START = 1356998400
POINTS = 20_000  # an answer of HBase is then longer than a token of 64 KiB
TICKET_SECONDS = 12


class EarlyServer(HaliteServer):
    """Reached as soon as it answers 503."""

    LISTENING = r"(?:listening|answering 503) on \S*:(\d+)"


def words(settings):
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


class SecureTest(unittest.TestCase):
    """A cluster with Kerberos. Subclasses say what else it has."""

    PROTECTION = "authentication,integrity,privacy"
    cluster = None

    @classmethod
    def setUpClass(cls):
        if cls is SecureTest:
            raise unittest.SkipTest("not a test itself")
        cls.folder = os.path.realpath(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="halite-secure-")))
        cls.realm = cls.enterClassContext(Realm(cls.folder))
        os.environ.update(cls.realm.environment)
        cls.realm.principal("hbase/localhost")
        cls.realm.principal("halite")
        server = cls.realm.keytab("hbase/localhost")
        cls.keytab = cls.realm.keytab("halite")
        cls.realm.log_in(cls.keytab, "halite")  # for HbaseTool
        properties = {**kerberos_properties(server, cls.PROTECTION), **cls.more_properties()}
        cls.cluster = cls.enterClassContext(Cluster(
            folder=os.path.join(cls.folder, "hbase"), host="localhost", properties=properties,
            environment=cls.realm.environment,
            jvm=[f"-Djava.security.krb5.conf={cls.realm.environment['KRB5_CONFIG']}"]))

    @classmethod
    def more_properties(cls):
        return {}

    def settings(self, **more):
        """With Kerberos; `more` has _ for the dot after hbase."""
        given = {"hbase.quorum": self.cluster.quorum, "hbase.authentication": "kerberos", "hbase.keytab": self.keytab,
                 "hbase.compression": "NONE", "self_metrics.enabled": "false"}
        given.update({"hbase." + name: value for name, value in more.items()})
        return words({name: value for name, value in given.items() if value is not None})

    def server(self, kind=HaliteServer, **more):
        server = kind(*self.settings(**more), store="hbase")
        self.addCleanup(server.stop)
        return server

    def await_status(self, server, wanted, text=""):
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                status, body = server.request("GET", "/-/ready")
                if status == wanted and text in body.decode():
                    return body.decode()
            except OSError:  # it takes over the port
                status, body = 0, b"cut off"
            self.assertLess(time.monotonic(), end, f"/-/ready answers {status}, not {wanted} {text!r}: {body[:600]}")
            time.sleep(0.2)

    def await_put(self, server, wanted):
        """Until a put has this status: regions open one after the other."""
        end = time.monotonic() + PATIENCE_SECONDS
        point = {"metric": "one", "timestamp": START, "value": 1, "tags": {"host": "a"}}
        while True:
            status, body = server.post("/api/put?details", [point])
            if status == wanted:
                return
            self.assertLess(time.monotonic(), end, f"a put answers {status}, not {wanted}: {body[:600]}")
            time.sleep(0.2)

    def assert_waits(self, text, **more):
        """A server with these settings waits for HBase, and says why."""
        server = self.server(kind=EarlyServer, **more)
        self.await_status(server, 503, text)

    def refused(self, **more):
        """What a server says that does not start."""
        command = [os.environ["HALITE_BIN"], "serve", "--listen", "127.0.0.1:0", "--store", "hbase", *self.settings(**more)]
        done = subprocess.run(command, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS, check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def assert_stores(self, server, metric):
        """One long column of points, and many small ones."""
        server.put([{"metric": metric, "timestamp": START + i, "value": i * 1.25, "tags": {"host": "a"}}
                    for i in range(POINTS)], batch=5000)
        server.put([{"metric": metric, "timestamp": START, "value": i, "tags": {"host": str(i)}} for i in range(100)])
        answer = server.get_json(f"/api/query?start={START}&end={START + POINTS}&m=sum:{metric}{{host=a}}")
        self.assertEqual(len(answer[0]["dps"]), POINTS)
        self.assertEqual(answer[0]["dps"][str(START + 7)], 8.75)
        answer = server.get_json(f"/api/query?start={START}&end={START + 10}&m=count:{metric}")
        self.assertEqual(answer[0]["dps"][str(START)], 101)


class KerberosTest(SecureTest):
    def test_each_protection(self):
        for protection in ("auth", "auth-int", "auth-conf", "integrity, privacy"):
            with self.subTest(protection):
                server = self.server(protection=protection, table_prefix=re.sub(r"\W+", "-", protection) + "-")
                self.assert_stores(server, "m")

    def test_the_registry_without_zookeeper_and_a_namespace(self):
        self.cluster.tool("namespace", "secure")
        server = self.server(quorum=None, registry=f"localhost:{self.cluster.port['master']}", table_prefix="secure:",
                             principal=f"halite@{REALM}", server_principal=f"hbase/_HOST@{REALM}")
        self.assert_stores(server, "m")
        self.assertIn("secure:tsdb", self.cluster.tool("list").stdout.split())

    def test_tools_and_a_credentials_cache(self):
        given = self.settings(keytab=None, table_prefix="cache-")
        for tool, text in (("create-tables", "created"), ("regions", "the first row")):
            done = subprocess.run([os.environ["HALITE_BIN"], "hbase", tool, *given], env=clean_environment(),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(text, done.stdout)
        server = self.server(keytab=None, table_prefix="cache-", credentials_cache=os.environ["KRB5CCNAME"])
        self.assert_stores(server, "m")

    def test_a_ticket_is_renewed_before_it_ends(self):
        self.realm.principal("short", "-maxlife", f'"{TICKET_SECONDS} sec"')
        keytab = self.realm.keytab("short")
        server = self.server(kind=EarlyServer, keytab=keytab, principal="short", table_prefix="short-", timeout_ms="5s")
        self.await_status(server, 200)
        self.assert_stores(server, "before")
        before = self.realm.tickets_given("short")
        time.sleep(2 * TICKET_SECONDS)
        # Each after three quarters of its life, without anyone who asks.
        self.assertGreaterEqual(self.realm.tickets_given("short") - before, 2)
        self.assert_stores(server, "kept")  # connections outlive their tickets
        self.cluster.kill("standalone")
        self.await_put(server, 503)
        self.cluster.launch("standalone")
        self.await_put(server, 200)
        self.assert_stores(server, "after")
        # While the KDC is away the old ticket is used, and then renewed.
        self.realm.stop()
        self.assert_waits("Cannot contact any KDC")
        time.sleep(1.5 * TICKET_SECONDS)
        self.realm.start()
        self.assert_stores(server, "back")
        before = self.realm.tickets_given("short")
        time.sleep(2 * TICKET_SECONDS)
        self.assertGreaterEqual(self.realm.tickets_given("short") - before, 1)

    def test_a_wrong_keytab(self):
        nowhere = os.path.join(self.folder, "nowhere.keytab")
        self.assertIn(f"hbase.keytab = {nowhere}: No such file or directory", self.refused(keytab=nowhere))
        self.assertIn("klist -k shows the principals of a keytab", self.refused(principal="somebody"))
        self.realm.principal("old")
        old = self.realm.keytab("old", "old.keytab")
        self.realm.keytab("old", "new.keytab")
        self.assert_waits("the keytab has an older key than the KDC", keytab=old)

    def test_names_that_the_kdc_does_not_know(self):
        self.assert_waits("hbase.server_principal must be the servers' principal", server_principal="nosuch/_HOST")
        self.realm.principal("gone")
        gone = self.realm.keytab("gone")
        self.realm.forget("gone")
        self.assert_waits("the KDC does not know this principal", keytab=gone)

    def test_no_ticket(self):
        self.assert_waits("fill the cache by kinit", keytab=None,
                          credentials_cache="FILE:" + os.path.join(self.folder, "no-cache"))

    def test_simple_authentication_is_refused(self):
        self.assert_waits("it requires Kerberos: set hbase.authentication = kerberos", authentication="simple", keytab=None)

    def test_tls_where_there_is_none(self):
        self.assert_waits("the server does not speak TLS", tls="true")


class TlsTest(SecureTest):
    """TLS with client certificates; Kerberos only with encryption, and for who wants it."""

    PROTECTION = "privacy"

    @classmethod
    def more_properties(cls):
        cls.certificates = Certificates(cls.folder)
        cls.certificates.certificate("server")
        cls.certificate, cls.key = cls.certificates.certificate("client")
        return {**cls.certificates.properties("server"), "hbase.server.netty.tls.supportplaintext": "false",
                "hbase.ipc.server.fallback-to-simple-auth-allowed": "true"}

    def settings(self, **more):
        tls = {"tls": "true", "tls_ca": self.certificates.folder + "/ca.pem", "tls_certificate": self.certificate,
               "tls_key": self.key}
        return super().settings(**{**tls, **more})

    def test_with_kerberos(self):
        self.assert_stores(self.server(table_prefix="both-"), "m")

    def test_without_kerberos(self):
        server = self.server(table_prefix="tls-", authentication="simple", keytab=None)
        self.assert_stores(server, "m")

    def test_a_protection_that_is_not_offered(self):
        self.assert_waits("the server offers auth-conf (hbase.rpc.protection = privacy); hbase.protection allows auth",
                          protection="auth")

    def test_without_tls(self):
        self.assert_waits("If it requires TLS, set hbase.tls", tls=None, tls_ca=None, tls_certificate=None, tls_key=None,
                          authentication="simple", keytab=None)

    def test_without_a_certificate(self):
        self.assert_waits("the server requires a client certificate", tls_certificate=None, tls_key=None)

    def test_a_certificate_that_is_not_trusted(self):
        other = self.certificates.authority("other")
        self.assert_waits("the server's certificate is not trusted", tls_ca=other)

    def test_the_name_of_another_host(self):
        self.assert_waits("hbase:meta calls the server 127.0.0.1, its certificate has localhost", quorum=None,
                          registry=f"127.0.0.1:{self.cluster.port['master']}")
        server = self.server(quorum=None, registry=f"127.0.0.1:{self.cluster.port['master']}", tls_verify_host="false",
                             server_principal=f"hbase/localhost@{REALM}", table_prefix="name-")
        self.assert_stores(server, "m")

    def test_files_that_are_wrong(self):
        self.assertIn("hbase.tls_ca = /nowhere.pem: No such file", self.refused(tls_ca="/nowhere.pem"))
        self.assertIn("hbase.tls_key = ", self.refused(tls_key=self.certificates.folder + "/server.key"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", required=True)
    options, rest = parser.parse_known_args()
    os.environ["HALITE_BIN"] = os.path.abspath(options.halite)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
