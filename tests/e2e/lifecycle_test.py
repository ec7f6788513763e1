#!/usr/bin/env python3
"""Starting, being told what to do, stopping: the binary as its operator meets it."""

import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import unittest

import support

T = 1356998400


class Settings(support.HaliteTest):
    def test_version(self):
        code, out, _ = self.run_halite("--version")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^halite \d+\.\d+\.\d+ \(revision [0-9a-f]+|unknown\)\n$")

    def test_output_that_is_lost_is_a_failure(self):
        server = self.server().start()
        server.put({"metric": "m", "timestamp": T, "value": 1, "tags": {"a": "b"}})
        server.terminate()
        for arguments in (["--version"], ["serve", "--help"], ["serve", "--print-config"], ["metrics"],
                          ["check", "--data-dir", str(server.data_dir)]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([support.binary(), *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(b"cannot write", done.stderr, arguments)

    def test_settings_that_do_not_fit_the_directory_are_wrong(self):
        self.server().start().terminate()
        for arguments, words in ((["--set", "storage.salt_buckets=7"], "was created with storage.salt_buckets = "),
                                 (["--set", "storage.uid_width_metric=4"],
                                  "was created with storage.uid_width_metric = 3 and cannot be opened with 4"),
                                 (["--store", "rocksdb"], "was created with|holds points"),
                                 (["--store", "memory"], "was created with|holds points")):
            err = self.refused("--data-dir", str(self.scratch / "data"), "--listen", "127.0.0.1:0", *arguments)
            self.assertRegex(err, words, arguments)

    def test_no_subcommand_is_a_usage_error(self):
        code, out, err = self.run_halite()
        self.assertEqual(code, 2)
        self.assertIn("subcommand", out + err)

    def test_an_empty_value_of_an_option_is_a_usage_error(self):
        url = ("--url", "http://127.0.0.1:1")
        for subcommand, option in ((["serve"], "--config"), (["serve"], "--opentsdb-conf"),
                                   (["serve"], "--data-dir"), (["serve"], "--set"),
                                   (["backup", *url], "--token-file"), (["ready", *url], "--ca-file"),
                                   (["views", "list", *url], "--token-file"), (["export"], "--output"),
                                   (["export"], "--match"), (["import"], "files")):
            flag = [option] if option.startswith("-") else []
            code, out, err = self.run_halite(*subcommand, *flag, "")
            self.assertEqual((code, out), (2, ""), option)
            self.assertIn(f"{option}: it is empty", err)
        self.assertFalse((self.scratch / "halite-data").exists())

    def test_print_config_names_defaults_and_sources(self):
        (self.scratch / "h.toml").write_text(
            'store = "memory"\n[web]\nbody_bytes_max = "1 MiB"\nidle_timeout_ms = "9s"\n'
        )
        code, out, err = self.run_halite(
            "serve", "--config", "h.toml", "--listen", "127.0.0.1:1", "--print-config",
            environment={"HALITE_WEB_IDLE_TIMEOUT_MS": "8s", "HALITE_LISTEN": "127.0.0.1:2"},
        )
        self.assertEqual((code, err), (0, ""))
        lines = {line.split(" = ")[0]: line for line in out.splitlines() if " = " in line}
        self.assertRegex(lines["listen"], r'^listen = "127.0.0.1:1" +# default "127.0.0.1:4242"; '
                                          r"from flag --listen$")
        self.assertRegex(lines["web.idle_timeout_ms"],
                         r'^web.idle_timeout_ms = "8s" +# ms; default "75s"; '
                         r"from environment HALITE_WEB_IDLE_TIMEOUT_MS$")
        self.assertRegex(lines["web.body_bytes_max"],
                         r'= "1 MiB" +# bytes; default "32 MiB"; from file h.toml:3$')
        self.assertRegex(lines["store"], r"from file h.toml:1$")
        self.assertRegex(lines["data_dir"], r'= "./halite-data" +# default "./halite-data"; from default$')
        # What it prints is a file it takes.
        (self.scratch / "printed.toml").write_text(out)
        code, again, err = self.run_halite("serve", "--config", "printed.toml", "--print-config")
        self.assertEqual((code, err), (0, ""))
        self.assertIn('listen = "127.0.0.1:1"', again)

    def test_ready_asks_a_server(self):
        server = self.server()
        url = ("--url", f"http://127.0.0.1:{support.free_port()}")
        code, out, err = self.run_halite("ready", *url)
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, "^halite: .*Connection refused")
        server.start()
        code, out, err = self.run_halite("ready", "--url", f"http://127.0.0.1:{server.port}")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.strip(), server.request("GET", "/-/ready")[1].decode().strip())
        self.assertEqual(self.run_halite("ready", "--url", "127.0.0.1")[0], 2)

        # One that takes connections and says nothing.
        with socket.create_server(("127.0.0.1", 0)) as silent:
            code, _, err = self.run_halite("ready", "--timeout-ms", "300", "--url",
                                           f"http://127.0.0.1:{silent.getsockname()[1]}")
        self.assertEqual(code, 1, err)

    def refused(self, *arguments, **more):
        code, _, err = self.run_halite("serve", *arguments, **more)
        self.assertEqual(code, 2)
        return err

    def test_unknown_settings_name_the_nearest(self):
        (self.scratch / "h.toml").write_text("[web]\nbody_byte_max = 1\n")
        self.assertEqual(
            self.refused("--config", "h.toml"),
            "halite: h.toml:2: unknown setting web.body_byte_max; "
            "did you mean web.body_bytes_max?\n",
        )
        self.assertEqual(
            self.refused(environment={"HALITE_STOR": "memory"}),
            "halite: environment: unknown setting HALITE_STOR; did you mean HALITE_STORE?\n",
        )
        self.assertIn("did you mean query.timeout_ms?", self.refused("--set", "query.timeout=1"))

    def test_rules_that_are_wrong_have_a_place(self):
        (self.scratch / "h.toml").write_text('\n[[views]]\nfoo = 1\n')
        self.assertRegex(self.refused("--config", "h.toml"), '^halite: h.toml:2: views: view 1: .*"foo"')
        (self.scratch / "h.toml").write_text('\n\n[[counters]]\nfoo = 1\n')
        self.assertRegex(self.refused("--config", "h.toml"), '^halite: h.toml:3: counters: rule 1: .*"foo"')
        self.assertRegex(self.refused("--set", "views=[1]"), "^halite: --set: views: view 1: ")
        self.assertRegex(self.refused(environment={"HALITE_VIEWS": "[1]"}),
                         "^halite: environment HALITE_VIEWS: views: view 1: ")
        (self.scratch / "h.toml").write_text('[counters]\nmetrics = "a"\n')
        self.assertIn("unknown setting counters.metrics; write [[counters]]", self.refused("--config", "h.toml"))

    def test_wrong_values_say_what_is_wanted(self):
        self.assertEqual(self.refused("--listen", "nowhere"),
                         "halite: listen must be ADDRESS:PORT such as 127.0.0.1:4242, "
                         '[::1]:4242, localhost:4242 or :4242 (all addresses), not "nowhere"\n')
        self.assertIn("are one port", self.refused("--data-dir", "d", "--listen", "127.0.0.1:4242",
                                                   "--set", "graphite.listen=127.0.0.1:4242"))
        self.assertFalse((self.scratch / "d").exists())
        self.assertEqual(self.refused("--store", "nowhere"),
                         'halite: --store must be one of engine, rocksdb, memory, hbase, not "nowhere"\n')
        self.assertEqual(self.refused(environment={"HALITE_INGEST_TAGS_MAX": "0"}),
                         "halite: environment: HALITE_INGEST_TAGS_MAX must be at least 1, not 0\n")
        self.assertIn("cannot read the configuration file none.toml", self.refused("--config", "none.toml"))

    def test_what_only_a_start_finds_wrong_has_the_same_status(self):
        for setting, words in (("web.timezone=Mars/Base", "web.timezone = Mars/Base"),
                               ("auth.anonymous=bla", "auth.anonymous"),
                               ("rollups.config=/nix", "rollups.config")):
            err = self.refused("--set", setting, "--set", "rollups.enabled=true",
                               "--listen", "127.0.0.1:0", "--store", "memory")
            self.assertIn(words, err)
        self.assertIn("is a directory", self.refused("--config", str(self.scratch)))

    def test_the_file_can_be_named_by_the_environment(self):
        (self.scratch / "h.toml").write_text('listen = "127.0.0.1:7"\n')
        code, out, _ = self.run_halite("serve", "--print-config",
                                       environment={"HALITE_CONFIG": "h.toml"})
        self.assertEqual(code, 0)
        self.assertIn('listen = "127.0.0.1:7"', out)


class Lifecycle(support.HaliteTest):
    def put_some(self, server):
        points = [{"metric": "life.http", "timestamp": T + i, "value": i, "tags": {"host": "a"}}
                  for i in range(100)]
        self.assertEqual(server.put(points)[0], 204)
        lines = [f"put life.telnet {T + i} {i}.5 host=a" for i in range(1000)]
        self.assertEqual(server.telnet_lines(lines), "")

    def expect_all(self, server):
        host = (("host", "a"),)
        http = support.points_of(server.query("sum:life.http", T, T + 2000))
        self.assertEqual(http, {("life.http", host): {T + i: i for i in range(100)}})
        telnet = support.points_of(server.query("sum:life.telnet", T, T + 2000))
        self.assertEqual(telnet, {("life.telnet", host): {T + i: i + 0.5 for i in range(1000)}})

    def test_sigterm_keeps_everything_and_exits_0(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(how=how):
                data_dir = self.scratch / how.name
                first = self.server(data_dir=data_dir).start()
                self.put_some(first)
                self.assertEqual(first.terminate(how), 0, first.log_text())
                second = self.server(data_dir=data_dir).start()
                self.expect_all(second)
                self.assertEqual(second.terminate(how), 0, second.log_text())

    def test_without_a_terminal_sighup_does_nothing(self):
        server = self.server().start()
        server.process.send_signal(signal.SIGHUP)
        self.put_some(server)
        self.expect_all(server)
        self.assertEqual(server.terminate(), 0, server.log_text())

    def test_a_closed_terminal_stops_it(self):
        ours, theirs = pty.openpty()
        server = subprocess.Popen([support.binary(), "serve", "--data-dir", self.scratch / "data", "--listen", "127.0.0.1:0"],
                                  stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            for line in server.stderr:
                if b"listening on" in line:
                    break
            server.send_signal(signal.SIGHUP)
            self.assertEqual(server.wait(30), 0)
        finally:
            server.kill()
            server.stderr.close()
            for end in (ours, theirs):
                os.close(end)

    def test_another_store_does_not_hide_the_points_of_the_first(self):
        for first, second in (("rocksdb", "engine"), ("engine", "rocksdb")):
            directory = self.scratch / first
            server = self.server("--store", first, data_dir=directory).start()
            self.put_some(server)
            self.assertEqual(server.terminate(), 0)
            code, _, said = self.run_halite("serve", "--data-dir", str(directory), "--store", second,
                                            "--listen", "127.0.0.1:0")
            self.assertNotEqual(code, 0)
            self.assertIn(f"was created with --store {first}", said)

    def test_memory_store_forgets_and_leaves_nothing_behind(self):
        server = self.server("--store", "memory").start()
        self.put_some(server)
        self.expect_all(server)
        self.assertEqual(server.terminate(), 0)
        self.assertFalse((self.scratch / "data").exists())

    def test_stops_while_clients_are_connected(self):
        server = self.server().start()
        with server.connect() as idle, server.connect() as half:
            half.sendall(b"put life.half 1")
            idle.sendall(b"sync\n")  # answered, so accepted
            self.assertEqual(idle.recv(7), b"synced\n")
            self.assertEqual(server.terminate(), 0, server.log_text())
            self.assertEqual(idle.recv(1), b"")

    def test_second_server_on_one_directory_is_refused(self):
        first = self.server().start()
        code, _, err = self.run_halite("serve", "--data-dir", str(first.data_dir),
                                       "--listen", "127.0.0.1:0")
        self.assertEqual(code, 1)
        self.assertIn(f"the data directory {first.data_dir} is in use by another server "
                      f"(process {first.process.pid})", err)
        self.put_some(first)
        self.expect_all(first)

    def test_files_of_others_in_the_data_directory_are_said(self):
        data_dir = self.scratch / "data"
        data_dir.mkdir()
        (data_dir / "letter.txt").write_text("x")
        server = self.server().start()
        self.put_some(server)
        self.assertTrue(any("holds files, but no data of Halite" in line for line in server.log))

    def test_port_in_use_is_said(self):
        first = self.server().start()
        code, _, err = self.run_halite("serve", "--data-dir", str(self.scratch / "other"),
                                       "--listen", f"127.0.0.1:{first.port}")
        self.assertEqual(code, 1)
        self.assertRegex(err, rf"cannot listen on 127\.0\.0\.1 port {first.port}: Address already in use")

        self.assertFalse((self.scratch / "other").exists())

    def test_unknown_subcommand_is_named(self):
        code, _, err = self.run_halite("foo")
        self.assertEqual(code, 2)
        self.assertRegex(err, r'unknown subcommand "foo"; the subcommands are: .*serve')

    def test_unknown_host_is_said(self):
        code, _, err = self.run_halite("serve", "--data-dir", str(self.scratch / "other"),
                                       "--listen", "no.such.host.invalid:1")
        self.assertEqual(code, 1)
        self.assertIn('cannot listen on "no.such.host.invalid"', err)
        self.assertFalse((self.scratch / "other").exists())

    def test_not_our_address_is_said(self):
        code, _, err = self.run_halite("serve", "--store", "memory", "--listen", "192.0.2.1:1")
        self.assertEqual(code, 1)
        self.assertIn("192.0.2.1", err)

    def test_readiness_is_told_to_systemd(self):
        path = self.scratch / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(str(path))
            listener.settimeout(60)
            server = self.server(environment={"NOTIFY_SOCKET": str(path)}).start()
            self.assertEqual(listener.recv(100), b"READY=1\nSTATUS=ready")
            self.assertEqual(server.request("GET", "/-/ready")[0], 200)
            self.assertEqual(server.terminate(), 0)
            self.assertEqual(listener.recv(100), b"STOPPING=1")

    def test_the_service_manager_hears_how_far_a_start_is(self):
        """Each message gives the start more time, so that a long log is not begun again for ever."""
        first = self.server().start()
        self.put_some(first)
        first.kill()
        path = self.scratch / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(str(path))
            listener.settimeout(60)
            second = self.server(environment={"NOTIFY_SOCKET": str(path)}).start()
            self.assertRegex(listener.recv(300).decode(),
                             r"^STATUS=the store is being opened: 0\.0 of [0-9.]+ MiB of the log "
                             r"replayed \(0 %\)\nEXTEND_TIMEOUT_USEC=900000000$")
            self.assertIn(b"(100 %)", listener.recv(300))
            self.assertEqual(listener.recv(300), b"READY=1\nSTATUS=ready")
            self.expect_all(second)

    def test_log_as_json_lines(self):
        server = self.server("--set", "log.format=json").start()
        self.assertEqual(server.terminate(), 0)
        self.eventually("the last line", lambda: any('"stopped"' in line for line in server.log))
        for line in server.log:
            self.assertEqual(set(json.loads(line)), {"time", "level", "message"})

    def test_own_metrics_within_moments(self):
        server = self.server("--set", "self_metrics.interval_ms=200ms",
                             "--set", "self_metrics.host=e2e").start()
        # Values get their ids last: then metrics and keys have theirs.
        self.eventually("their tag", lambda: server.get_json("/api/suggest?type=tagv&q=e2e"))
        metrics = server.get_json("/api/suggest?type=metrics&q=halite.&max=1000")
        self.assertIn("halite.process.resident_bytes", metrics)
        answers = self.eventually("their points", lambda: server.get_json(
            "/api/query?start=1h-ago&m=avg:halite.process.resident_bytes{host=*}"))
        self.assertEqual(answers[0]["tags"], {"host": "e2e"})
        self.assertGreater(max(answers[0]["dps"].values()), 1e6)

    def test_own_metrics_can_be_off(self):
        server = self.server("--set", "self_metrics.enabled=false").start()
        self.put_some(server)
        self.assertEqual(server.get_json("/api/suggest?type=metrics&q=halite."), [])


def can_mount():
    probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


class DiskFull(support.HaliteTest):
    @unittest.skipUnless(can_mount(), "needs a user namespace with a tmpfs of its own")
    def test_no_room_is_an_error_and_loses_nothing_acknowledged(self):
        data_dir = self.scratch / "data"
        data_dir.mkdir()
        script = f'mount -t tmpfs -o size=24m tmpfs {data_dir} && exec "$@"'
        server = self.server(wrapper=("unshare", "-rm", "sh", "-c", script, "sh")).start()
        acknowledged = {}
        refusal = None
        for batch in range(4000):
            points = [{"metric": "full.load", "timestamp": T + batch * 500 + i,
                       "value": batch * 500 + i, "tags": {"host": "a"}} for i in range(500)]
            status, body = server.put(points)
            if status != 204:
                refusal = (status, body.decode(errors="replace"))
                break
            acknowledged.update((point["timestamp"], point["value"]) for point in points)
        self.assertIsNotNone(refusal, "the disk never got full")
        self.assertIn(refusal[0], (500, 503), refusal)
        self.assertTrue(server.running(), server.log_text())
        kept = support.points_of(server.query("sum:full.load", T, T + 4000 * 500))
        points = kept[("full.load", (("host", "a"),))]
        missing = [second for second, value in acknowledged.items() if points.get(second) != value]
        self.assertEqual(missing, [])


class Rights(support.HaliteTest):
    def test_it_needs_none(self):
        """As deploy/halite.service runs it: another user than root, no new privileges."""
        wrapper, binary = (), support.binary()
        if os.geteuid() == 0:
            nobody = 65534
            binary = str(self.scratch / "halite")
            shutil.copy(support.binary(), binary)
            os.chown(self.scratch, nobody, nobody)
            wrapper = ("setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups",
                       "--no-new-privs")
        server = self.server(wrapper=wrapper)
        server.command[len(wrapper)] = binary
        server.start()
        self.assertEqual(server.put([{"metric": "m", "timestamp": T, "value": 1,
                                      "tags": {"a": "b"}}])[0], 204)
        self.assertEqual(server.request("POST", "/api/admin/seal", "")[0], 204)
        self.assertEqual(server.terminate(), 0)


if __name__ == "__main__":
    support.main()
