#!/usr/bin/env python3
"""The packages of ./dev package, used as docs/operate/install.md says, on systems that have nothing else.

python3 tests/package/package_test.py --build build/release [--rebuild] [--packages DIRECTORY] [TEST...]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/e2e"))
sys.path.insert(0, str(SOURCE / "deploy"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import roots  # noqa: E402
import support  # noqa: E402
import systemd_machine  # noqa: E402

NEWER = "9.0.0"  # the version of the package to which another is upgraded
PORT = 4242
FIRST_GRAPH = re.search(r"## First graph in a minute\n(.*?)\n## ", (SOURCE / "README.md").read_text(), re.DOTALL)[1]

options = argparse.Namespace()


def typed(heading):
    """The blocks of commands in a section of docs/operate/install.md."""
    text = (SOURCE / "docs/operate/install.md").read_text()
    [section] = re.findall(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)
    # A # at the beginning of a line of commands would end the section: there is none.
    blocks = re.findall(r"^```\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert blocks, heading
    return blocks


def package(into, *arguments, build=None, source=SOURCE):
    """{name: path} of the packages that deploy/package makes. What another test has made is taken as it is."""
    if list(into.glob("*.deb")):
        return {path.name: path for path in into.iterdir() if path.is_file()}
    done = subprocess.run([sys.executable, source / "deploy/package", "--build", build or options.build, "--into", into,
                           *arguments], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return {path.name: path for path in into.iterdir() if path.is_file()}


def one(packages, pattern):
    [found] = [path for name, path in packages.items() if re.fullmatch(pattern, name)]
    return found


class Packages(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="halite-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.packages = package(options.packages or cls.scratch / "first")
        cls.deb = one(cls.packages, r"halite_.*\.deb")
        native = cls.deb.stem.rpartition("_")[2]
        cls.tarball = one(cls.packages, rf"halite-.*-linux-{native}\.tar\.gz")
        cls.context = one(cls.packages, rf"halite-.*-container-{native}\.tar\.gz")

    # ---- of what they consist ----

    def test_the_same_bytes_again(self):
        if options.rebuild:  # by another compilation, elsewhere
            copy = self.scratch / "copy"
            subprocess.run(["git", "clone", "-q", SOURCE, copy], check=True)
            done = subprocess.run("cmake --preset release && cmake --build --preset release --target halite", shell=True,
                                  cwd=copy, env={**os.environ, "CCACHE_DISABLE": "1"}, text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
            again = package(self.scratch / "again", build=copy / "build/release", source=copy)
        else:
            again = package(self.scratch / "again")
        self.assertEqual(sorted(again), sorted(self.packages))
        different = [name for name, path in again.items() if path.read_bytes() != self.packages[name].read_bytes()]
        self.assertEqual(different, [])

    def test_lintian(self):
        for path in self.packages.values():
            if path.suffix == ".deb":
                done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", path], capture_output=True,
                                      text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_man_pages_and_completions(self):
        subprocess.run(["dpkg-deb", "-x", self.deb, self.scratch / "deb"], check=True)
        share = self.scratch / "deb/usr/share"
        for page in ("man1/halite.1.gz", "man5/halite.toml.5.gz"):
            done = subprocess.run(["man", "--warnings", "-l", share / "man" / page], capture_output=True, text=True, check=True,
                                  env={"PATH": os.environ["PATH"], "MANROFFSEQ": "", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
            self.assertEqual(done.stderr, "")
            self.assertIn("SEE ALSO", done.stdout)
        subprocess.run(["zsh", "-n", share / "zsh/vendor-completions/_halite"], check=True)
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {share}/fish/vendor_completions.d/halite.fish; complete -C 'halite auth '; "
             "complete -C 'halite serve --set tls.k'"], capture_output=True, text=True, check=True)
        self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()], ["token", "user", "tls.key="])

    def test_links_of_the_documentation(self):
        subprocess.run(["tar", "-C", self.scratch, "-xf", self.tarball], check=True)
        share = self.scratch / self.tarball.name.removesuffix(".tar.gz") / "share"
        dead = []
        for page in (share / "doc/halite").rglob("*.md"):
            links = re.findall(r"\]\(([^)#\s]+)", page.read_text())
            dead += [(page.name, link) for link in links if "://" not in link and not (page.parent / link).exists()]
        self.assertEqual(dead, [])
        runbooks = re.findall(r"runbook_url: file:(\S+?)#", (share / "halite/alerts/halite.yml").read_text())
        self.assertEqual(set(runbooks), {"/opt/halite/share/doc/halite/docs/operate/alerts.md"})

    # ---- the package of Debian ----

    def machine(self, shown, system=roots.BOOKWORM):
        if not roots.may():
            self.skipTest("needs root and debootstrap")
        root = roots.made(system, options.roots)
        if system == roots.BOOKWORM:
            roots.download(root, self.deb)
        try:
            machine = systemd_machine.Machine([shown], root)
        except systemd_machine.NoMachine as why:
            self.skipTest(f"no machine of systemd's here: {why}")
        self.addCleanup(machine.close)
        return machine

    def curl(self, machine, *arguments):
        """curl of this machine in the network of that one."""
        return subprocess.run(["nsenter", "-t", machine.init, "-n", "curl", "-sS", *arguments], capture_output=True, text=True,
                              check=False)

    def put_first_points(self, machine):
        """The commands of the README, as they stand there."""
        put, query = re.findall(r"```\n(.*?)```", FIRST_GRAPH, re.DOTALL)
        done = subprocess.run(["nsenter", "-t", machine.init, "-n", "bash", "-e", "-c", put], capture_output=True, text=True,
                              check=True)
        self.assertRegex(done.stdout, "^HTTP/1.1 204 ")
        self.query = query

    def first_points(self, machine):
        """{room: values}"""
        done = subprocess.run(["nsenter", "-t", machine.init, "-n", "bash", "-e", "-c", self.query], capture_output=True,
                              text=True, check=True)
        return {answer["tags"]["room"]: list(answer["dps"].values()) for answer in json.loads(done.stdout)}

    def sees_first_points(self, machine):
        deadline = time.monotonic() + 30  # a point by telnet has no answer
        while (seen := self.first_points(machine)) != {"kitchen": [21.5], "cellar": [19.5]}:
            self.assertLess(time.monotonic(), deadline, seen)
            time.sleep(0.2)

    def sees_page(self, machine):
        page = self.curl(machine, f"http://127.0.0.1:{PORT}/").stdout
        self.assertIn("<title>Halite", page)
        scripts = re.findall(r'src="([^"]+\.js)"', page)
        self.assertTrue(scripts, page)
        for script in scripts:
            self.assertEqual(self.curl(machine, "-o", "/dev/null", "-w", "%{http_code}",
                                       f"http://127.0.0.1:{PORT}/{script.lstrip('/')}").stdout, "200")

    def shell(self, machine, directory, commands):
        commands = commands.replace("apt ", "apt -q -y ")
        return machine.run("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8",
                           "sh", "-e", "-c", f"cd {directory}\n{commands}")

    def wait_until_ready(self, machine):
        deadline = time.monotonic() + 60
        while machine.run("halite", "ready", check=False).returncode != 0:
            self.assertLess(time.monotonic(), deadline, self.journal(machine))
            time.sleep(0.1)

    def journal(self, machine):
        return machine.run("journalctl", "-u", "halite", "-o", "cat", "--no-pager").stdout

    def test_life_of_the_debian_package(self):
        [install] = typed("Debian package")
        [let_in], [upgrade], [remove, purge] = typed("Let others in"), typed("Upgrade"), typed("Remove")
        shown = self.scratch / "debian"
        newer = one(package(self.scratch / "newer", "--only", "deb", "--version", NEWER), r"halite_.*\.deb")
        for name, path in (("old", self.deb), ("new", newer)):
            (shown / name).mkdir(parents=True)
            shutil.copy(path, shown / name)
        machine = self.machine(shown)

        told = self.shell(machine, shown / "old", install).stdout
        self.assertTrue(told.endswith("ok\n"), told)
        self.assertEqual(machine.properties("halite", "ActiveState", "UnitFileState", "User"),
                         {"ActiveState": "active", "UnitFileState": "enabled", "User": "halite"})
        self.assertEqual(machine.run("stat", "-c", "%U %a", "/var/lib/halite").stdout, "halite 700\n")
        self.put_first_points(machine)
        self.sees_first_points(machine)
        self.sees_page(machine)
        self.assertEqual(machine.run("ldd", "/usr/bin/halite").stdout.count("not found"), 0)

        pid = machine.properties("halite", "MainPID")
        machine.run("sh", "-c", "printf '\\nengine.backup_dir = \"/var/lib/halite-backups\"\\n' >> /etc/halite/halite.toml")
        self.shell(machine, shown / "new", upgrade)
        self.wait_until_ready(machine)
        self.assertIn(NEWER, machine.run("dpkg-query", "-W", "halite").stdout)
        self.assertNotEqual(machine.properties("halite", "MainPID"), pid)
        self.sees_first_points(machine)
        self.assertEqual(machine.run("sh", "-c", "ls /etc/halite").stdout, "halite.toml\n")
        made = self.curl(machine, "-f", "-X", "POST", f"http://127.0.0.1:{PORT}/api/admin/backup")
        self.assertEqual(made.returncode, 0, made.stderr + made.stdout)

        self.shell(machine, "/", let_in)
        self.wait_until_ready(machine)
        self.assertEqual(self.curl(machine, "-o", "/dev/null", "-w", "%{http_code}",
                                   f"http://127.0.0.1:{PORT}/api/version").stdout, "401")
        token = machine.run("cat", "/etc/halite/accounts.toml").stdout.split("\n")[0].removeprefix("# ")
        point = {"metric": "by.token", "timestamp": int(time.time()), "value": 1, "tags": {"a": "b"}}
        self.assertEqual(self.curl(machine, "-w", "%{http_code}", "-H", f"Authorization: Bearer {token}", "--data-binary",
                                   json.dumps(point), f"http://127.0.0.1:{PORT}/api/put").stdout, "204")
        machine.run("sed", "-i", "/^listen = /d; /^auth.file = /d", "/etc/halite/halite.toml")

        self.shell(machine, "/", remove)
        self.assertEqual(machine.run("sh", "-c", "! command -v halite && ! pgrep halite; test -d /var/lib/halite/ && "
                                     "test -f /etc/halite/halite.toml && echo kept").stdout, "kept\n")
        self.assertNotEqual(self.curl(machine, f"http://127.0.0.1:{PORT}/").returncode, 0)
        self.shell(machine, shown / "new", install)
        self.sees_first_points(machine)

        self.shell(machine, "/", remove)
        self.shell(machine, "/", purge)
        self.assertEqual(machine.run("sh", "-c", "ls -d /etc/halite /var/lib/halite* 2>/dev/null; dpkg -l halite 2>/dev/null | "
                                     "grep -c ^.i; true").stdout.split(), ["/var/lib/halite-backups", "0"])
        left = machine.run("sh", "-c", "find /usr /lib /etc /var/lib/systemd -name '*halite*'", check=False).stdout
        self.assertEqual(left, "")

    # ---- the tarball ----

    def unpacked(self, root, shown, script):
        unpack, _ = typed("Tarball")
        inside = roots.Inside(root, shown, unpack.replace(" halite-*", " /mnt/halite-*") + script)
        self.addCleanup(inside.close)
        return inside

    def test_tarball_on_an_older_system(self):
        self.runs_on_an_older_system(self.tarball, roots.BULLSEYE)

    def for_arm64(self):
        if not options.arm64 or not roots.may():
            self.skipTest("needs --arm64, root and debootstrap")
        roots.emulate_arm64()

    def test_tarball_for_arm64(self):
        self.for_arm64()
        self.runs_on_an_older_system(options.arm64, roots.BULLSEYE_ARM64)

    def test_directories_of_amd64_on_arm64(self):
        self.for_arm64()
        place = self.scratch / "arm64"
        place.mkdir()
        subprocess.run(["tar", "-xzf", options.arm64, "-C", place, "--strip-components=1"], check=True)
        done = subprocess.run([sys.executable, SOURCE / "tests/e2e/compat_test.py", "--halite", place / "bin/halite"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def runs_on_an_older_system(self, tarball, system):
        if not roots.may():
            self.skipTest("needs root and debootstrap")
        root = roots.made(system, options.roots)
        shown = self.scratch / f"tarball-{root.name}"
        shown.mkdir()
        shutil.copy(tarball, shown)
        glibc = roots.Inside(root, shown, "ldd --version | head -1").finish()[1]
        self.assertIn("2.31", glibc)
        status, told = self.unpacked(root, shown, "cd /tmp; ln -s /opt/halite/bin/halite linked; ./linked --version\n"
                                     "./linked serve --print-config | head -1\n! ldd /opt/halite/lib/halite > /dev/null 2>&1 || "
                                     "ldd /opt/halite/lib/halite | grep 'not found' | head -1").finish()
        self.assertEqual(status, 0, told)
        self.assertRegex(told, r"halite \d+\.\d+\.\d+ \(revision [0-9a-f]+\)\nhalite \d")

        port = support.free_port()
        server = self.unpacked(root, shown, f"exec /opt/halite/bin/halite serve --data-dir /tmp/d --listen 127.0.0.1:{port}")
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while subprocess.run(["curl", "-sf", f"{url}/-/ready"], capture_output=True, check=False).returncode != 0:
            self.assertLess(time.monotonic(), deadline, server.process.poll())
            time.sleep(0.2)
        now = int(time.time())
        # A charset of the C library's own modules; a name in it that UTF-8 would refuse.
        body = json.dumps({"metric": "caf\u00e9", "timestamp": now, "value": 2.5, "tags": {"a": "b"}}, ensure_ascii=False)
        done = subprocess.run(["curl", "-sS", "-w", "%{http_code}", "-H", "Content-Type: application/json; charset=windows-1252",
                               "--data-binary", "@-", f"{url}/api/put"], input=body.encode("cp1252"), capture_output=True,
                              check=True)
        self.assertEqual(done.stdout.decode(), "204")
        done = subprocess.run(["curl", "-gsS", f"{url}/api/query?start=2d-ago&m=sum:1dc-sum:caf%C3%A9&tz=Europe/Berlin"],
                              capture_output=True, text=True, check=True)
        [answer] = json.loads(done.stdout)
        self.assertEqual(list(answer["dps"].values()), [2.5], done.stdout)
        mapped = {path for path in server.maps() if ".so" in path}
        self.assertGreater(len(mapped), 20)
        self.assertEqual({path for path in mapped if "/opt/halite/lib/" not in path}, set())

    def test_tarball_as_a_service_on_an_older_system(self):
        unpack, serve = typed("Tarball")
        shown = self.scratch / "service"
        shown.mkdir()
        shutil.copy(self.tarball, shown)
        machine = self.machine(shown, roots.BULLSEYE)
        self.shell(machine, shown, unpack + serve)
        self.wait_until_ready(machine)
        self.put_first_points(machine)
        machine.run("systemctl", "restart", "halite")
        self.sees_first_points(machine)
        self.sees_page(machine)

    def test_licences_of_all_that_is_bundled(self):
        for tarball in (self.tarball, *([options.arm64] if options.arm64 else ())):
            subprocess.run(["tar", "-C", self.scratch, "-xf", tarball], check=True)
            root = self.scratch / tarball.name.removesuffix(".tar.gz")
            listed = (root / "licences/README.md").read_text()
            for path in (root / "lib").iterdir():
                if ".so" in path.name:
                    self.assertRegex(listed, rf"[ ,|]{re.escape(path.name)}[,| ]")
            for row in re.findall(r"^\| ([a-z0-9.+-]+ \| (?!source).*)", listed, re.MULTILINE):
                self.assertRegex(row, r"^[a-z0-9.+-]+ \| [a-z0-9.+-]+ \| [A-Za-z0-9.+:~-]+ \|")
                name = row.split()[0]
                self.assertTrue((root / "licences" / f"{name}.copyright").stat().st_size > 0, name)

    # ---- the container ----

    def buildah(self, *arguments, check=True):
        done = subprocess.run(["buildah", "--storage-driver", "vfs", "--root", self.scratch / "storage", "--runroot",
                               self.scratch / "storage-run", *arguments], cwd=self.scratch / "image", capture_output=True,
                              text=True, check=False)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_container(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        [commands] = typed("Container")
        image = self.scratch / "image"
        image.mkdir()
        shutil.copy(self.context, image)
        unpack, build = commands.strip().split("\n")
        subprocess.run(unpack, shell=True, cwd=image, check=True)
        words = build.removeprefix("buildah ").split()
        words[-1] = str(next(image.glob("*-container-*/")))
        stamp = ["--timestamp", "1700000000"]
        layers = []
        for _ in range(2):
            self.buildah(words[0], *stamp, *words[1:])
            told = json.loads(self.buildah("inspect", "--type", "image", "halite").stdout)
            layers.append(told["OCIv1"]["rootfs"]["diff_ids"])
        self.assertEqual(layers[0], layers[1])
        told = told["Docker"]["config"]
        self.assertEqual((told["User"], told["Entrypoint"], told["Cmd"]), ("4242:4242", ["/usr/bin/halite"], ["serve"]))
        self.assertEqual(told["Healthcheck"]["Test"], ["CMD", "/usr/bin/halite", "ready"])
        self.assertEqual(list(told["Volumes"]), ["/var/lib/halite"])

        container = self.buildah("from", "halite").stdout.strip()
        self.addCleanup(self.buildah, "rm", container)
        run = ["run", "--isolation", "chroot"]
        refused = self.buildah(*run, container, "--", "/usr/bin/halite", "serve", check=False)
        self.assertIn("set auth.file, or set auth.anonymous", refused.stdout + refused.stderr)
        self.assertNotEqual(self.buildah(*run, container, "--", "/bin/sh", "-c", "true", check=False).returncode, 0)

        port = support.free_port()
        server = subprocess.Popen(
            ["unshare", "--fork", "--kill-child", "--pid", "--mount-proc", "buildah", "--storage-driver", "vfs", "--root",
             self.scratch / "storage", "--runroot", self.scratch / "storage-run", *run, "--env", "HALITE_AUTH_ANONYMOUS=read,write",
             "--env", f"HALITE_LISTEN=0.0.0.0:{port}", container, "--", "/usr/bin/halite", "serve"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        check = [*told["Healthcheck"]["Test"][1:], "--url", f"http://127.0.0.1:{port}"]
        deadline = time.monotonic() + 60
        while (healthy := self.buildah(*run, container, "--", *check, check=False)).returncode != 0:
            self.assertLess(time.monotonic(), deadline, healthy.stderr)
            time.sleep(0.5)
        now = int(time.time())
        body = json.dumps({"metric": "c", "timestamp": now, "value": 1, "tags": {"a": "b"}})
        subprocess.run(["curl", "-sSf", "-H", "Content-Type: application/json", "--data-binary", body,
                        f"http://127.0.0.1:{port}/api/put"], check=True)
        done = subprocess.run(["curl", "-sSf", f"http://127.0.0.1:{port}/api/query?start=1h-ago&m=sum:c"], capture_output=True,
                              text=True, check=True)
        self.assertEqual([list(answer["dps"].values()) for answer in json.loads(done.stdout)], [[1]])
        owners = subprocess.run(["ps", "-eo", "uid,args"], capture_output=True, text=True, check=True).stdout
        self.assertIn(" 4242 /usr/bin/halite serve", owners)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the directory of the build")
    parser.add_argument("--roots", type=pathlib.Path, default=SOURCE / "build/roots", help="where roots of Debian are kept")
    parser.add_argument("--packages", type=pathlib.Path, help="take the packages there, or make them there")
    parser.add_argument("--arm64", type=pathlib.Path, help="the tarball of ./dev package-arm64, to be tested too")
    parser.add_argument("--rebuild", action="store_true", help="compile a copy of the source, and compare its packages")
    known, rest = parser.parse_known_args(namespace=options)
    known.build, known.roots = known.build.resolve(), known.roots.resolve()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
