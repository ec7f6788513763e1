#!/usr/bin/env python3
"""The examples of docs/: what the pages tell you to type, with the binary that is tested. Answers must
be those that the page shows; programs must store their points. A program is skipped if its language
is not installed."""

import os
import re
import shutil
import subprocess
import time

import support

DOCS = support.HERE.parent.parent / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    """[(language, text)] of a page's code blocks, in order."""
    return BLOCK.findall((DOCS / page).read_text())


def comparable(answer):
    """An answer without what differs from server to server, and without the page's wrapping."""
    text = answer.replace("\r", "").replace("\n ", "").strip()
    text = re.sub(r'"(tsuid|counted|grownSince|time)":("[0-9A-F]+"|[0-9.]+)', r'"\1":_', text)
    return re.sub(r'"series":\d+,"metrics":\d+', '"series":_,"metrics":_', text)


class Documentation(support.HaliteTest):
    def setUp(self):
        super().setUp()
        self.halite = self.server("--set", "web.allow_delete=true").start()

    def here(self, text):
        """The text of a page with this server's port."""
        for server in ("127.0.0.1:4242", "127.0.0.1/4242"):
            text = text.replace(server, f"{server[:-4]}{self.halite.port}")
        return text.replace('"127.0.0.1", 4242', f'"127.0.0.1", {self.halite.port}')

    def run_command(self, *command, seconds=300):
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, cwd=self.scratch,
            timeout=seconds, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def test_queries_by_example(self):
        found = blocks("query/http.md")
        tried = 0
        for (_, command), (_, expected) in zip(found, found[1:]):
            if not command.startswith("curl "):
                continue
            said = self.run_command(
                "bash", "-c", "\n".join(
                    f"{one.rstrip()}; echo" for one in
                    re.split(r"^(?=curl )", self.here(command), flags=re.MULTILINE) if one))
            if expected.startswith("HTTP/"):
                said = said.split("\r\n")[0]
            with self.subTest(command):
                self.assertEqual(
                    [comparable(line) for line in said.splitlines() if line],
                    comparable(expected).splitlines())
            tried += 1
        self.assertGreaterEqual(tried, 15)

    def test_counters(self):
        """The whole page in order, with its rule. Its times are moved by whole days to recent ones."""
        found = blocks("send-data/counters.md")
        [rule] = [text for _, text in found if text.startswith("[[counters]]")]
        (self.scratch / "counters.toml").write_text(rule)
        self.halite.terminate()
        self.halite = self.server("--config", self.scratch / "counters.toml").start()
        days = (int(time.time()) - 1795694410) // 86400

        def recent(text):
            return re.sub(r"\b1795\d{6}\b", lambda moment: str(int(moment.group()) + days * 86400), text)

        queries = sent = 0
        for (_, command), (_, expected) in zip(found, [*found[1:], ("", "")]):
            if command.startswith(("curl -i ", "printf ")):
                said = self.run_command("bash", "-c", self.here(recent(command)))
                self.assertTrue(command.startswith("printf ") or said.startswith("HTTP/1.1 204"), said)
                sent += 1
            elif command.startswith("curl "):
                answer = None
                for _ in range(50):  # telnet collects increments
                    answer = comparable(self.run_command("bash", "-c", self.here(recent(command))))
                    if answer == comparable(recent(expected)):
                        break
                    time.sleep(0.1)
                with self.subTest(command):
                    self.assertEqual(answer, comparable(recent(expected)))
                queries += 1
        self.assertEqual((sent, queries), (4, 4))

    def test_programs_that_send(self):
        programs = {language: text for language, text in blocks("send-data/own-code.md")
                    if "app.users" in text and language}
        how = {
            "python": ("send.py", ["python3", "send.py"]),
            "go": ("send.go", ["go", "run", "send.go"]),
            "java": ("Send.java", ["java", "Send.java"]),
            "js": ("send.mjs", ["node", "send.mjs"]),
        }
        self.assertEqual(set(programs), set(how))
        for language, (file, command) in how.items():
            with self.subTest(language):
                if shutil.which(command[0]) is None:
                    self.skipTest(f"{command[0]} is not installed")
                metric = f"app.users.{language}"
                text = self.here(programs[language]).replace("app.users", metric)
                (self.scratch / file).write_text(text)
                self.run_command(*command)
                now = int(time.time())
                answers = self.halite.query(f"none:{metric}", now - 600, now + 600)
                self.assertEqual([list(one["dps"].values()) for one in answers], [[42]])

    def test_telnet_from_a_shell_and_with_sync(self):
        found = blocks("send-data/own-code.md")
        [script] = [text for language, text in found if language == "bash"]
        (self.scratch / "send.sh").write_text(self.here(script))
        with subprocess.Popen(["bash", "send.sh"], cwd=self.scratch, start_new_session=True) as sender:
            try:
                self.eventually("a point of the script", lambda: "sys.load.1m" in
                                self.halite.get_json("/api/suggest?type=metrics&q=sys.load"))
            finally:
                os.killpg(sender.pid, 15)
        [synced] = [text for _, text in found if "sync\\n" in text]
        (self.scratch / "sync.py").write_text(self.here(synced))
        self.assertEqual(self.run_command("python3", "sync.py"), "synced\n")
        now = int(time.time())
        answers = self.halite.query("none:room.temperature", now - 600, now + 600)
        self.assertEqual(sorted(value for one in answers for value in one["dps"].values()),
                         [12.25, 21.5])

    def test_get_started(self):
        """Its first points, and the query that draws them."""
        commands = [text for _, text in blocks("get-started.md") if text.startswith("curl ")]
        self.run_command("bash", "-c", self.here(commands[0]))
        said = self.run_command("bash", "-c", self.here(commands[1]))
        self.assertEqual(said.count('"metric":"room.temperature"'), 2)


if __name__ == "__main__":
    support.main()
