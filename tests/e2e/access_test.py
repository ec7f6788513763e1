#!/usr/bin/env python3
"""Closed doors: users, tokens and TLS, with the real binary, its tool and real certificates."""

import base64
import hashlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import unittest

import support

POINT = {"metric": "m", "timestamp": 1356998400, "value": 1, "tags": {"a": "b"}}


class Door(support.HaliteTest):
    def token(self, name, roles):
        """(the token, its table of auth.file) as `halite auth token` makes them."""
        code, out, err = self.run_halite("auth", "token", name, "--roles", roles)
        self.assertEqual((code, err), (0, ""))
        token = out.splitlines()[0].removeprefix("# ")
        self.assertEqual(hashlib.sha256(token.encode()).hexdigest() in out, True)
        return token, out

    def user(self, name, password, roles):
        done = subprocess.run(
            [support.binary(), "auth", "user", name, "--roles", roles],
            input=f"{password}\n", capture_output=True, text=True, check=True, timeout=60)
        return done.stdout

    def accounts(self, *tables):
        path = self.scratch / "accounts.toml"
        fresh = self.scratch / "accounts.new"
        fresh.write_text("".join(tables))
        os.chmod(fresh, 0o600)
        os.replace(fresh, path)
        return path

    def certificate(self, name, valid_for="IP:127.0.0.1"):
        """A fresh self-signed one: (certificate, key)."""
        certificate, key = self.scratch / f"{name}.pem", self.scratch / f"{name}.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", f"/CN={name}",
             "-addext", f"subjectAltName={valid_for}"],
            check=True, capture_output=True, timeout=60)
        return certificate, key

    def status(self, server, method, path, body=None, **headers):
        return server.request(method, path, body and json.dumps(body), headers)[0]


class Accounts(Door):
    def test_roles_of_users_and_tokens(self):
        agent, agent_table = self.token("agent", "write")
        path = self.accounts(agent_table, self.user("alice", "geheim", "admin"))
        server = self.server("--set", f"auth.file={path}").start()
        basic = "Basic " + base64.b64encode(b"alice:geheim").decode()
        self.assertEqual(self.status(server, "GET", "/-/healthy"), 200)
        self.assertEqual(self.status(server, "POST", "/api/put", [POINT]), 401)
        self.assertEqual(
            self.status(server, "POST", "/api/put", [POINT], Authorization=f"Bearer {agent}"), 204)
        self.assertEqual(
            self.status(server, "GET", "/api/version", Authorization=f"Bearer {agent}"), 403)
        self.assertEqual(self.status(server, "GET", "/", Authorization=basic), 200)
        self.assertEqual(
            self.status(server, "POST", "/api/admin/flush", Authorization=basic), 204)
        said = server.telnet_lines(
            ["put m 1356998401 2 a=b", f"auth {agent}", "put m 1356998402 3 a=b", "sync", "exit"])
        self.assertEqual(
            said, "put: not allowed: requires the role write (send auth TOKEN, or auth USER PASSWORD)\n"
                  "AUTH_SUCCESS\nsynced\n")
        status, body = server.request(
            "GET", "/api/query?start=1356998000&end=1356999000&m=sum:m", None,
            {"Authorization": basic})
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(body)[0]["dps"], {"1356998400": 1, "1356998402": 3})
        log = server.log_text()
        self.assertIn("audit: alice from 127.0.0.1: POST /api/admin/flush -> 204", log)
        self.assertIn("audit: agent from 127.0.0.1: GET /api/version -> 403", log)
        for secret in (agent, "geheim", basic.split()[1]):
            self.assertNotIn(secret, log)

    def test_a_telnet_connection_ends_to_be_somebody(self):
        first, first_table = self.token("first", "write")
        path = self.accounts(first_table)
        server = self.server("--set", f"auth.file={path}", "--set", "auth.reload_ms=10ms").start()
        with server.connect() as telnet:
            def say(lines, until):
                telnet.sendall(lines)
                said = b""
                while until not in said:
                    said += telnet.recv(4096)
                return said
            say(f"auth {first}\n".encode(), b"AUTH_SUCCESS\n")
            self.assertEqual(say(b"put m 1356998400 1 a=b\nsync\n", b"synced\n"), b"synced\n")
            self.accounts(self.token("second", "write")[1])
            self.eventually("the refusal", lambda: b"put: not allowed" in say(
                b"put m 1356998401 1 a=b\nsync\n", b"synced\n"))

    def test_tools_bring_a_token(self):
        agent, agent_table = self.token("agent", "write")
        boss, boss_table = self.token("boss", "admin")
        path = self.accounts(agent_table, boss_table)
        server = self.server("--set", f"auth.file={path}",
                             "--set", f"engine.backup_dir={self.scratch}/backups").start()
        url = f"http://127.0.0.1:{server.port}"
        # boss_table is all that `halite auth token` has printed.
        for token, expected in ((None, 2), (agent, 2), (boss, 0), (f"{boss} \r", 0), (boss_table, 0), ("# ", 2)):
            (self.scratch / "token").write_text(f"{token}\n")
            flags = ("--token-file", "token") if token else ()
            code, out, err = self.run_halite("backup", "--url", url, *flags)
            self.assertEqual(code, expected, out + err)

    def test_copies_to_a_server_need_only_the_role_write(self):
        agent, agent_table = self.token("agent", "write")
        viewer, viewer_table = self.token("viewer", "read")
        server = self.server("--set", f"auth.file={self.accounts(agent_table, viewer_table)}",
                             "--set", "self_metrics.enabled=false").start()
        url = f"http://127.0.0.1:{server.port}"
        (self.scratch / "agent").write_bytes(f"{agent}\r\n".encode())
        (self.scratch / "viewer").write_text(f"{viewer}\n")
        (self.scratch / "points").write_text("m 1356998400 1 host=a\n")
        code, out, err = self.run_halite("import", "--url", url, "--token-file", "agent", "points")
        self.assertEqual(code, 0, err)
        self.assertIn("1 point stored", out)
        code, out, err = self.run_halite("import", "--url", url, "--token-file", "viewer", "points")
        self.assertEqual(code, 2, err)
        self.assertIn(f"the server answered 403 to {url}/api/put: Not allowed: User viewer lacks the "
                      "required role: write", err)
        self.assertEqual(self.run_halite("import", "--data-dir", "first", "points")[0], 0)
        arguments = ("migrate", "--from", "./first", "--to", url, "--to-token-file", "agent")
        code, out, err = self.run_halite(*arguments)
        self.assertEqual(code, 0, err)
        self.assertIn("1 point copied, 0 refusals", out)
        code, _, err = self.run_halite(*arguments, "--verify")
        self.assertEqual(code, 2)
        self.assertIn("the server answered 403", err)

    def test_a_changed_file_counts_without_a_restart(self):
        first, first_table = self.token("first", "read")
        second, second_table = self.token("second", "read")
        path = self.accounts(first_table)
        server = self.server("--set", f"auth.file={path}", "--set", "auth.reload_ms=10ms").start()
        ask = lambda token: self.status(server, "GET", "/api/version",
                                        Authorization=f"Bearer {token}")
        self.assertEqual((ask(first), ask(second)), (200, 401))
        self.accounts(second_table)
        self.eventually("the second's right", lambda: ask(second) == 200)
        self.assertEqual(ask(first), 401)

    def test_others_are_let_in_only_where_that_is_said(self):
        code, _, err = self.run_halite(
            "serve", "--listen", "0.0.0.0:0", "--data-dir", str(self.scratch / "data"))
        self.assertEqual(code, 2)
        self.assertIn("any host on the network could read, write and delete data", err)
        self.assertFalse((self.scratch / "data").exists())
        server = self.server("--set", "auth.anonymous=read", listen="0.0.0.0:0").start()
        self.assertEqual(self.status(server, "GET", "/api/version"), 200)
        self.assertEqual(self.status(server, "POST", "/api/put", [POINT]), 401)

    def test_an_account_without_a_role_is_refused(self):
        for kind in ("user", "token"):
            code, out, err = self.run_halite("auth", kind, "a", "--roles", "none")
            self.assertEqual((code, out), (2, ""))
            self.assertIn("--roles none: the account could do nothing", err)

    def test_a_file_others_may_write_is_refused(self):
        _, table = self.token("agent", "write")
        path = self.accounts(table)
        os.chmod(path, 0o666)
        code, _, err = self.run_halite(
            "serve", "--listen", "127.0.0.1:0", "--data-dir", "d", "--set", f"auth.file={path}")
        self.assertEqual(code, 2)
        self.assertIn("auth.file: ", err)
        self.assertIn("chmod go-w", err)
        self.assertFalse((self.scratch / "d").exists())


class Tls(Door):
    def start_tls(self, *arguments):
        certificate, key = self.certificate("one")
        return self.server("--set", f"tls.certificate={certificate}", "--set", f"tls.key={key}",
                           *arguments).start()

    def context(self, name="one"):
        return ssl.create_default_context(cafile=self.scratch / f"{name}.pem")

    def https(self, server, name="one"):
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60,
                                                 context=self.context(name))
        self.addCleanup(connection.close)
        return connection

    def test_http_and_telnet_within_tls(self):
        server = self.start_tls()
        connection = self.https(server)
        for value in range(3):  # one connection
            connection.request("POST", "/api/put", json.dumps({**POINT, "value": value}))
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.read()), (204, b""))
        many = [{**POINT, "timestamp": 1356998400 + i} for i in range(20_000)]
        connection.request("POST", "/api/put?summary", json.dumps(many))
        answer = connection.getresponse()
        self.assertEqual(json.loads(answer.read())["success"], 20_000)
        connection.close()
        raw = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        with self.context().wrap_socket(raw, server_hostname="127.0.0.1") as telnet:
            lines = b"".join(b"put n %d %d a=b\n" % (1356998400 + i, i) for i in range(20_000))
            telnet.sendall(lines + b"put n x 1 a=b\nsync\n")
            said = b""
            while b"synced" not in said:
                said += telnet.recv(4096)
            self.assertEqual(said.count(b"\n"), 2)
            telnet.sendall(b"exit\n")
            self.assertEqual(telnet.recv(10), b"")
        connection = self.https(server)
        connection.request("GET", "/api/query?start=1356998000&end=1357098000&m=sum:0all-count:n")
        self.assertEqual(list(json.loads(connection.getresponse().read())[0]["dps"].values()),
                         [20_000])

    def test_a_refusal_reaches_who_still_sends(self):
        server = self.start_tls("--set", "web.body_bytes_max=1000")
        raw = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        with self.context().wrap_socket(raw, server_hostname="127.0.0.1") as secure:
            secure.sendall(b"POST /api/put HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n")
            try:
                for _ in range(100):
                    secure.sendall(b" " * 10_000)
            except OSError:
                pass  # it ended the connection, having answered
            self.assertTrue(secure.recv(100).startswith(b"HTTP/1.1 413 "))

    def test_without_tls_nothing_goes(self):
        server = self.start_tls()
        status, body = server.request("GET", "/api/version", None, {})
        self.assertEqual((status, body), (400, b"This port requires https:// (tls.only)"))
        self.assertEqual(server.telnet_lines(["version"]),
                         "error: this port requires TLS (tls.only)\n")
        server.terminate()
        both = self.start_tls("--set", "tls.only=false")
        self.assertEqual(self.status(both, "GET", "/api/version"), 200)
        connection = self.https(both)
        connection.request("GET", "/api/version")
        self.assertEqual(connection.getresponse().status, 200)

    def test_tools_speak_it(self):
        server = self.start_tls("--set", f"engine.backup_dir={self.scratch}/backups")
        self.certificate("two")
        queries = self.scratch / "queries"
        queries.write_text("/api/query?start=1356998000&end=1357098000&m=sum:m\n")
        connection = self.https(server)
        connection.request("POST", "/api/put", json.dumps(POINT))
        self.assertEqual(connection.getresponse().status, 204)
        good = f"https://127.0.0.1:{server.port}"
        for url, trusted, words in (
            (good, ("--ca-file", "one.pem"), None),
            (good, ("--ca-file", "two.pem"), "certificate verify failed"),
            (good, (), "certificate verify failed"),
            (good.replace("127.0.0.1", "localhost"), ("--ca-file", "one.pem"), "certificate verify failed"),
            (good, ("--ca-file", "one.key"), "cannot load trusted certificates in one.key"),
            (good.replace("https", "http"), (), "This port requires https://"),
        ):
            code, out, err = self.run_halite("backup", "--url", url, *trusted)
            self.assertEqual(code, 2 if words else 0, out + err)
            self.assertIn(words or "saved as", out + err)
        code, out, err = self.run_halite("compare", "--opentsdb", good, "--halite", good, "--ca-file", "one.pem",
                                         "--queries", "queries")
        self.assertEqual(code, 0, out + err)
        self.assertIn("1 query: 1 match", out)

    def test_tools_check_the_name_of_a_host(self):
        certificate, key = self.certificate("named", "DNS:localhost")
        server = self.server("--set", f"tls.certificate={certificate}", "--set", f"tls.key={key}",
                             "--set", f"engine.backup_dir={self.scratch}/backups").start()
        for host, code, words in (("localhost", 0, "saved as"), ("127.0.0.1", 2, "certificate verify failed")):
            done = self.run_halite("backup", "--url", f"https://{host}:{server.port}", "--ca-file", certificate)
            self.assertEqual(done[0], code, done)
            self.assertIn(words, done[1] + done[2])

    def test_who_waits_for_the_store_is_answered_with_tls(self):
        """A liveness probe speaks as all others do."""
        certificate, key = self.certificate("one")
        for only in ("false", "true"):
            server = self.server("--store", "hbase", "--hbase-quorum", "127.0.0.1:1",
                                 "--set", f"tls.certificate={certificate}",
                                 "--set", f"tls.key={key}", "--set", f"tls.only={only}")
            server.launch()
            door = lambda: re.search(r"answering 503 on 127\.0\.0\.1:(\d+)", server.log_text())
            server.port = int(self.eventually("its door", door).group(1))
            for path, status in (("/-/healthy", 200), ("/-/ready", 503), ("/api/version", 503)):
                connection = self.https(server)
                connection.request("GET", path)
                self.assertEqual(connection.getresponse().status, status, path)
            plain = 400 if only == "true" else 200
            self.assertEqual(self.status(server, "GET", "/-/healthy"), plain)
            self.assertEqual(server.terminate(), 0, server.log_text())

    def test_a_new_certificate_counts_without_a_restart(self):
        server = self.start_tls()
        old = self.https(server)
        old.request("GET", "/-/healthy")
        self.assertEqual(old.getresponse().read(), b"ok\n")
        certificate, key = self.certificate("two")
        shutil.copy(self.scratch / "one.pem", self.scratch / "kept.pem")
        (self.scratch / "one.pem").write_text("nonsense")
        self.eventually("the complaint", lambda: "the new certificate is invalid" in server.log_text())
        # Half of a pair is not taken: who trusts the first is answered with it.
        half = self.https(server, "kept")
        half.request("GET", "/-/healthy")
        self.assertEqual(half.getresponse().status, 200)
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.https(server, "two").request("GET", "/-/healthy")
        os.replace(certificate, self.scratch / "one.pem")
        os.replace(key, self.scratch / "one.key")
        self.eventually("the new one", lambda: "certificate reloaded" in server.log_text())
        fresh = self.https(server)  # one.pem is the second by now
        fresh.request("GET", "/-/healthy")
        self.assertEqual(fresh.getresponse().status, 200)
        old.request("GET", "/-/healthy")  # what is open goes on
        self.assertEqual(old.getresponse().status, 200)

    def test_bad_hellos_and_sudden_ends(self):
        server = self.start_tls("--set", "tls.handshake_ms=300ms")
        for sent in (b"\x16", b"\x16\x03\x01\x00\x05abcde", b"\x16" + os.urandom(2000)):
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:
                raw.sendall(sent)
                while raw.recv(4096):
                    pass
        for _ in range(20):  # gone in the middle of an answer
            raw = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            secure = self.context().wrap_socket(raw, server_hostname="127.0.0.1")
            secure.sendall(b"GET /api/aggregators HTTP/1.1\r\n\r\n" * 50)
            secure.close()
        connection = self.https(server)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        self.assertIn("\nhalite_web_tls_failed_total 3\n", text)
        self.assertEqual(server.terminate(), 0)

    def test_wrong_files_are_named(self):
        certificate, key = self.certificate("one")
        self.certificate("two")
        # OpenSSL takes a key of another kind without complaint, and would ask for a passphrase.
        for name, command in (("rsa.key", ("genrsa", "2048")),
                              ("locked.key", ("pkey", "-in", key, "-aes128", "-passout", "pass:x"))):
            made = subprocess.run(["openssl", *command], check=True, capture_output=True, timeout=60)
            (self.scratch / name).write_bytes(made.stdout)
        for settings, words in (
            ((f"tls.certificate={certificate}",), "tls.key"),
            ((f"tls.key={key}",), "tls.certificate is not"),
            ((f"tls.certificate={key}", f"tls.key={key}"), "tls.certificate"),
            ((f"tls.certificate={certificate}", f"tls.key={self.scratch}/two.key"),
             f"two.key: not the key of tls.certificate = {certificate}"),
            ((f"tls.certificate={certificate}", f"tls.key={self.scratch}/rsa.key"), "not the key of"),
            ((f"tls.certificate={certificate}", f"tls.key={self.scratch}/locked.key"),
             "the key is encrypted"),
            ((f"tls.certificate={certificate}", f"tls.key={self.scratch}/none.key"),
             "No such file or directory; correct the path"),
            ((f"tls.certificate={certificate}", f"tls.key={self.scratch}"), "tls.key"),
        ):
            flags = [word for setting in settings for word in ("--set", setting)]
            code, _, err = self.run_halite("serve", "--listen", "127.0.0.1:0", "--data-dir", "d",
                                           *flags)
            self.assertEqual(code, 2)
            self.assertIn(words, err)
        self.assertFalse((self.scratch / "d").exists())


if __name__ == "__main__":
    support.main()
