#!/usr/bin/env python3
"""`halite import`: files and standard input into a data directory; refused lines, exit codes, and kill -9
in the midst of an import that is then resumed. HALITE_SEED chooses the moments.
"""

import gzip
import json
import os
import random
import subprocess
import time

import support
import views_test

T = 1356998400
ALL, REFUSED, FAILED = 0, 1, 2
NO_TTL = ("--set", "self_metrics.enabled=false")


def line(metric, second, value, **tags):
    return f"{metric} {second} {value} " + " ".join(f"{k}={v}" for k, v in tags.items())


class ImportTest(support.HaliteTest):
    def write(self, name, text):
        path = self.scratch / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def start_import(self, *arguments, data_dir=None, stdin=subprocess.DEVNULL):
        where = () if "--url" in arguments else ("--data-dir", str(data_dir or self.scratch / "data"))
        return subprocess.Popen(
            [support.binary(), "import", *where, "--quiet", *arguments], stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.scratch,
            env=support.clean_environment())

    def run_import(self, *arguments, expect=ALL, text=None, data_dir=None):
        """Standard output and standard error of an import that ends as expected."""
        process = self.start_import(*arguments, data_dir=data_dir, stdin=subprocess.PIPE)
        out, err = process.communicate(text, timeout=support.START_SECONDS)
        self.assertEqual(process.returncode, expect, (out, err))
        return out.decode(), err.decode()

    def served(self, *arguments, data_dir=None):
        return self.server(*NO_TTL, *arguments, data_dir=data_dir).start()

    def points(self, server, expression, seconds=1000):
        return support.points_of(server.query(expression, T, T + seconds))


class Files(ImportTest):
    def test_files_of_all_kinds_and_standard_input(self):
        plain = self.write("a.txt", "\n".join(line("m", T + i, i, host="a") for i in range(100)))
        packed = self.write("b.gz", gzip.compress("\n".join(
            line("m", T + i, i + 0.5, host="b") for i in range(100)).encode()))
        out, err = self.run_import(plain, packed)
        self.assertRegex(out, r"^200 points stored, 0 lines refused, [0-9.]+ s\n$")
        self.run_import("-", text=b"put m 1356998400 7 host=c\n")
        influx = self.write("c.txt", f"cpu,host=a user=1.5,sys=2i {T}\n")
        self.run_import("--precision", "s", influx)
        vmjson = self.write("d.txt", json.dumps({
            "metric": {"__name__": "up", "job": "x"}, "values": [1, 2],
            "timestamps": [T * 1000, T * 1000 + 1000]}) + "\n")
        self.run_import(vmjson)
        self.assertEqual([path.name for path in self.scratch.glob("*checkpoint*")], [])
        server = self.served()
        found = self.points(server, "sum:m{host=*}")
        self.assertEqual(found[("m", (("host", "a"),))], {T + i: i for i in range(100)})
        self.assertEqual(found[("m", (("host", "b"),))], {T + i: i + 0.5 for i in range(100)})
        self.assertEqual(found[("m", (("host", "c"),))], {T: 7})
        self.assertEqual(list(self.points(server, "sum:cpu_sys").values()), [{T: 2}])
        self.assertEqual(list(self.points(server, "sum:up").values()), [{T: 1, T + 1: 2}])

    def test_a_first_import_that_nothing_was_done_of(self):
        good = self.write("good", line("m", T, 1, host="a") + "\n")
        text = self.write("text", "what is this\nno points\n")
        for arguments, said in (
                ((str(self.scratch / "none"),), "none"), ((good, str(self.scratch)), "directory"),
                ((text,), "cannot tell the format"), (("--format", "cobol", good), "cobol"),
                (("--precision", "year", good), "year"), ((), "files"),
                (("--url", "http://127.0.0.1:1", good), "127.0.0.1"),
                (("--jobs", "x", good), "--jobs"), ((text,), "--precision"),
                (("--checkpoint-interval", "nan", good), "--checkpoint-interval"),
                (("--checkpoint-interval", "0", good), "--checkpoint-interval"),
                (("--store", "foo", good), "none of engine, rocksdb and hbase"),
                (("--url", "http://127.0.0.1:1", "--data-dir", "x", good), "--data-dir and --url"),
                (("--url", "http://127.0.0.1:1", "--store", "engine", good), "--store and --url"),
                (("--format", "csv", good), "--csv-columns"),
                (("--csv-columns", good), "--csv-columns"),
                (("--csv-columns", "metric,time", good), '"metric,time" has no column value'),
                (("--format", "influx", "--csv-columns", "metric,time,value", good), "not influx"),
                (("--errors", str(self.scratch / "none" / "errors"), good), "none")):
            with self.subTest(arguments):
                _, err = self.run_import(*arguments, expect=FAILED)
                self.assertIn(said, err)
        self.assertEqual(list(self.scratch.glob("*checkpoint*")), [])

    def test_a_data_directory_in_use(self):
        server = self.served()
        file = self.write("a", line("m", T, 1, host="a") + "\n")
        _, err = self.run_import(file, expect=FAILED)
        self.assertIn("data", err)
        self.assertRegex(err, "in use|uses|another")
        self.assertEqual(server.terminate(), 0)
        self.run_import(file)

    def test_refused_lines_are_named(self):
        good = [line("m", T + i, i, host="a") for i in range(30_000)]
        text = list(good)
        wrong = {5: "m x 1 host=a", 2000: "m 1356998400 1", 29_999: "\u00e4\x01 " * 2000}
        for at, bad in wrong.items():
            text[at] = bad
        file = self.write("a.txt", "\n".join(text))
        errors = self.scratch / "errors"
        out, err = self.run_import("--errors", str(errors), file, expect=REFUSED)
        self.assertIn(f"{len(good) - 3} points stored, 3 lines refused", out)
        self.assertIn(f"{file}:6: ", err)
        rows = [row.split("\t") for row in errors.read_text().splitlines()]
        self.assertEqual([(row[0], int(row[1])) for row in rows],
                         [(file, at + 1) for at in sorted(wrong)])
        self.assertEqual(rows[0][3], wrong[5])
        self.assertEqual(len(rows[2][3]), len(wrong[29_999]))  # whole, so that it can be mended
        self.assertIn("x", rows[0][2])
        server = self.served()
        [found] = self.points(server, "sum:m", 40_000).values()
        self.assertEqual(len(found), len(good) - 3)

    def test_a_file_for_errors_that_exists_stays_as_it_is(self):
        file = self.write("a.txt", line("m", T, 1, host="a"))
        errors = self.write("errors", "precious")
        for resume in ((), ("--resume",)):
            _, err = self.run_import("--errors", errors, *resume, file, expect=FAILED)
            self.assertIn("exists; choose another file by --errors", err)
            self.assertEqual((self.scratch / "errors").read_text(), "precious")

    def test_errors_and_checkpoint_in_one_file(self):
        file = self.write("a.txt", "m x 1 host=a\n")
        for errors, checkpoint in (("both", "both"), ("both", "./both"),
                                   ("halite-import.checkpoint", None)):
            more = ("--checkpoint", checkpoint) if checkpoint else ()
            _, err = self.run_import("--errors", errors, *more, file, expect=FAILED)
            self.assertIn("--errors and --checkpoint are both ", err)
            self.assertFalse((self.scratch / errors).exists())

    def test_an_imported_file_is_no_checkpoint(self):
        file = self.write("points.lock", line("m", T, 1, host="a"))
        for checkpoint, said in (("points.lock", "FILE and --checkpoint are both "),
                                 ("points", "FILE and the lock of --checkpoint are both ")):
            _, err = self.run_import("--checkpoint", checkpoint, file, expect=FAILED)
            self.assertIn(said, err)
            self.assertTrue((self.scratch / "points.lock").exists())

    def test_columns_of_several_csv_files(self):
        files = [self.write(f"{name}.csv", f"m,{T},{value},{name}\n") for value, name in enumerate("ab")]
        out, _ = self.run_import("--csv-columns", "metric,time,value,host", *files)
        self.assertIn("2 points stored, 0 lines refused", out)
        titled = self.write("c.csv", f"of my machines\nmetric,time,value,host\nm,{T},1,c\n")
        out, _ = self.run_import("--format", "csv", titled, expect=REFUSED)
        self.assertIn("1 point stored, 1 line refused", out)

    def test_csv_of_one_line_and_of_lines_without_feeds(self):
        header = "metric,time,value,host"
        out, _ = self.run_import(self.write("one.csv", f"{header}\nm,{T},1,a"))
        self.assertIn("1 point stored, 0 lines refused", out)
        _, err = self.run_import("--format", "csv", self.write("cr.csv", f"{header}\rm,{T},2,a\r"), expect=FAILED)
        self.assertIn("cr.csv: the header has a carriage return inside", err)

    def test_csv_by_a_pipe_that_is_slow(self):
        process = self.start_import("--format", "csv", "-", stdin=subprocess.PIPE)
        self.addCleanup(process.kill)
        for part in ("of my machines\n", "metric,time,va", f"lue,host\nm,{T},1,c\n"):
            process.stdin.write(part.encode())
            process.stdin.flush()
            time.sleep(0.2)
        out, err = process.communicate(timeout=support.START_SECONDS)
        self.assertEqual(process.returncode, REFUSED, (out, err))
        self.assertIn(b"1 point stored, 1 line refused", out)

    def test_files_without_text(self):
        columns = ("--csv-columns", "metric,time,value,host")
        empty = self.write("empty", "")
        mark = self.write("mark", "\ufeff")
        for files in ((empty,), (mark,), (empty, mark)):
            self.run_import(*columns, *files)
            self.run_import(*files)
        out, _ = self.run_import(*columns, empty, mark, self.write("a.csv", f"m,{T},1,a\n"))
        self.assertIn("1 point stored, 0 lines refused", out)
        text = self.write("text", "what is this\nno points\n")
        _, err = self.run_import(empty, mark, text, expect=FAILED)
        self.assertIn(f"cannot tell the format of {text}", err)

    def test_a_checkpoint_that_another_import_left(self):
        good = self.write("good", line("m", T, 1, host="a") + "\n")
        text = self.write("text", "what is this\nno points\n")
        left = self.write("halite-import.checkpoint", "{}")
        for arguments, said in (
                ((str(self.scratch / "none"),), "none"), ((text,), "cannot tell the format"),
                (("--format", "cobol", good), "cobol"), ((good,), "continue it by --resume"),
                (("--resume", good), "is not a checkpoint")):
            with self.subTest(arguments):
                _, err = self.run_import(*arguments, expect=FAILED)
                self.assertIn(said, err)
                self.assertNotIn("continues from there", err)
        self.assertEqual((self.scratch / left).read_text(), "{}")

    def test_what_follows_packed_data(self):
        text = "".join(line("m", T + i, i, host="a") + "\n" for i in range(100)).encode()
        padded = self.write("padded.gz", gzip.compress(text) + bytes(1000))
        out, _ = self.run_import(padded)
        self.assertIn("100 points stored, 0 lines refused", out)
        between = self.write("between.gz", gzip.compress(text) + bytes(1000) + gzip.compress(text))
        out, _ = self.run_import(between)
        self.assertIn("200 points stored, 0 lines refused", out)
        junk = self.write("junk.gz", gzip.compress(text) + b"junk")
        errors = self.scratch / "errors"
        out, err = self.run_import("--errors", str(errors), junk, expect=REFUSED)
        self.assertIn("100 points stored, 1 line refused", out)
        self.assertIn(f"{junk}:101: the bytes behind the gzip data are ignored", err)
        self.assertTrue(errors.read_text().startswith(f"{junk}\t101\t"))

    def test_a_truncated_file(self):
        rng = random.Random(1)
        text = "".join(line("m", T + i, rng.randrange(10 ** 9), host="a") + "\n"
                       for i in range(50_000)).encode()
        packed = gzip.compress(text)
        path = self.write("a.gz", packed[:len(packed) // 2])
        errors = ("--errors", str(self.scratch / "errors"))
        for resume in ((), ("--resume",)):
            _, err = self.run_import(*errors, *resume, path, expect=FAILED)
            self.assertIn("a.gz: the gzip data ends early: the file is truncated", err)
            self.assertIn("the lines before the end are stored", err)
            self.assertIn(f"checkpoint and {errors[1]} and import all files again", err)
            self.assertNotIn("may be missing or wrong", err)
            self.assertNotIn("continues from there", err)
        _, err = self.run_import("--resume", path, expect=FAILED)
        self.assertIn(f"begun with {' '.join(errors)}, continued without --errors", err)
        _, err = self.run_import(*errors, "--resume", "--format", "influx", path, expect=FAILED)
        self.assertIn("begun with --format opentsdb; give the same", err)
        os.utime(path, (T, T))
        _, err = self.run_import(*errors, "--resume", path, expect=FAILED)
        self.assertIn("a.gz has another size or time", err)
        [found] = self.points(self.served(), "sum:m", 60_000).values()
        self.assertGreater(len(found), 20_000)
        lines = text.decode().splitlines()
        self.assertEqual(found, {T + i: int(lines[i].split()[2]) for i in range(len(found))})

    def test_a_damaged_file(self):
        rng = random.Random(1)
        packed = bytearray(gzip.compress("".join(
            line("m", T + i, rng.randrange(10 ** 9), host="a") + "\n"
            for i in range(50_000)).encode()))
        for i in range(50):
            packed[len(packed) // 2 + i] ^= 0x55
        _, err = self.run_import(self.write("a.gz", bytes(packed)), expect=FAILED)
        self.assertIn("the gzip data is damaged", err)
        self.assertIn("some lines before the place where the damage was found may be wrong or missing", err)

    def test_a_byte_order_mark(self):
        out, _ = self.run_import(self.write("a.txt", "\ufeff" + line("m", T, 1, host="a") + "\n"))
        self.assertIn("1 point stored, 0 lines refused", out)
        [found] = self.points(self.served(), "sum:m").values()
        self.assertEqual(found, {T: 1})

    def test_what_is_no_place_and_no_time(self):
        self.run_import(self.write("a.txt", line("m", T, 1, host="a")))
        code, _, err = self.run_halite("migrate", "--from", "data", "--to", "127.0.0.1:1")
        self.assertEqual(code, FAILED)
        self.assertIn("write http://HOST:PORT", err)
        self.assertFalse((self.scratch / "127.0.0.1:1").exists())
        code, _, err = self.run_halite("export", "--data-dir", "data", "--end", f"{T}.5")
        self.assertEqual(code, FAILED)
        self.assertIn("three digits behind the dot", err)

    def test_points_past_the_time_they_are_kept(self):
        now = int(time.time())
        file = self.write("a.txt", "\n".join(
            [line("m", now - 400 * 86400, 1, host="a"), line("m", now - 60, 2, host="a"),
             line("m", now - 50, 3, host="a")]))
        errors = self.scratch / "errors"
        ttl = ("--set", "storage.ttl_ms=30d")
        out, _ = self.run_import(*ttl, "--errors", str(errors), file, expect=REFUSED)
        self.assertIn("2 points stored, 1 line refused", out)
        self.assertIn(f"{file}\t1\t", errors.read_text())

    def test_the_later_of_equal_times_wins(self):
        self.served().terminate()
        server = self.served()
        server.put([{"metric": "m", "timestamp": T + i, "value": 1, "tags": {"host": "a"}}
                    for i in range(10)])
        server.kill()  # the points are in its log only
        file = self.write("a.txt", "\n".join(
            [line("m", T + i, 2, host="a") for i in range(2, 9)] +
            [line("m", T + i, 3, host="a") for i in range(2, 4)]))
        self.run_import(file)
        expected = {T + i: 1 for i in (0, 1, 9)} | {T + i: 2 for i in range(4, 9)}
        expected |= {T + i: 3 for i in (2, 3)}
        server = self.served()
        self.assertEqual(list(self.points(server, "sum:m").values()), [expected])
        server.put([{"metric": "m", "timestamp": T + 5, "value": 9, "tags": {"host": "a"}}])
        self.assertEqual(server.terminate(), 0)
        server = self.served()
        self.assertEqual(list(self.points(server, "sum:m").values()), [expected | {T + 5: 9}])


    def test_a_negative_rate(self):
        file = self.write("a.txt", line("m", T, 1, host="a") + "\n")
        process = self.start_import("--rate=-1", file)
        _, err = process.communicate(timeout=support.START_SECONDS)
        self.assertNotEqual(process.returncode, ALL)
        self.assertIn(b"--rate: -1 is less than 0\n", err)


class Kill9(ImportTest):
    """The points after kill -9 and --resume are those of an uninterrupted import."""

    HOSTS = 200
    STEPS = 7_000
    REPEATS = 20  # every so many steps, points come twice; the later line wins

    def make_file(self, name, packed):
        rng = random.Random(name)
        path = self.scratch / name
        opened = gzip.open(path, "wt", compresslevel=1) if packed else open(path, "w")
        with opened as file:
            for step in range(self.STEPS):
                text = []
                for host in range(self.HOSTS):
                    text.append(f"m.{host % 4} {T + step} {rng.randrange(10_000)} host=h{host}\n")
                if step % self.REPEATS == 0:
                    for host in range(self.HOSTS):
                        text.append(f"m.{host % 4} {T + step - step // 2} {step} host=h{host}\n")
                    text.append(f"m.0 {T + step} wrong host=h{step}\n")
                file.write("".join(text))
        return str(path)

    def contents(self, data_dir):
        """Sums and counts over all series, and all points of some of them."""
        server = self.served(data_dir=data_dir)
        end = T + self.STEPS
        found = {}
        for metric in range(4):
            for function in ("sum", "count", "min", "max"):
                expression = f"sum:100s-{function}:m.{metric}{{host=*}}"
                found[expression] = support.points_of(server.query(expression, T, end))
        for host in (0, 77, 199):
            expression = f"sum:m.{host % 4}{{host=h{host}}}"
            found[expression] = support.points_of(server.query(expression, T, end))
        self.assertEqual(server.terminate(), 0)
        return found

    def test_resumed_until_it_is_done(self):
        seed = int(os.environ.get("HALITE_SEED", time.time_ns() % 1_000_000))
        print(f"HALITE_SEED={seed}", flush=True)
        moments = random.Random(seed)
        files = [self.make_file("a.txt", False), self.make_file("b.gz", True)]
        alone = ("--errors", str(self.scratch / "errors-alone"), "--checkpoint", "checkpoint-alone")
        began = time.monotonic()
        out, _ = self.run_import(*alone, *files, expect=REFUSED, data_dir=self.scratch / "alone")
        took = time.monotonic() - began
        kills = 0
        arguments = ("--errors", str(self.scratch / "errors"), "--resume",
                     "--checkpoint-interval", "0.05")
        while True:
            process = self.start_import(*arguments, *files)
            try:
                # Later kills come sooner: the whole must end in time.
                process.wait(took * moments.random() if kills < 8 else None)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        resumed, err = process.communicate()
        self.assertEqual(process.returncode, REFUSED, err)
        self.assertEqual(resumed.decode().rsplit(",", 1)[0], out.rsplit(",", 1)[0])
        self.assertGreater(kills, 0)
        self.assertEqual((self.scratch / "errors").read_bytes(),
                         (self.scratch / "errors-alone").read_bytes())
        self.assertFalse((self.scratch / "halite-import.checkpoint").exists())
        expected = self.contents(self.scratch / "alone")
        self.assertTrue(all(expected.values()))
        self.assertEqual(self.contents(self.scratch / "data"), expected)
        print(f"{kills} kills; {out.strip()}", flush=True)

    def test_needs_resume_after_an_interruption(self):
        file = self.make_file("a.txt", False)
        checkpoint = self.scratch / "halite-import.checkpoint"
        process = self.start_import("--checkpoint-interval", "0.01", file)
        self.addCleanup(process.kill)
        self.eventually("a checkpoint", checkpoint.exists)
        process.kill()
        process.communicate()
        if not checkpoint.exists():
            self.skipTest("the import was too fast")
        _, err = self.run_import(file, expect=FAILED)
        self.assertIn("--resume", err)
        other = self.write("b.txt", line("m", T, 1, host="a"))
        _, err = self.run_import("--resume", other, expect=FAILED)
        self.assertIn("other files", err)
        _, err = self.run_import("--resume", file, expect=FAILED, data_dir=self.scratch / "other")
        self.assertIn(f"not into engine {self.scratch}/other", err)
        checkpoint.write_text("{")
        _, err = self.run_import("--resume", file, expect=FAILED)
        self.assertIn("remove it to begin again", err)

    def test_an_import_that_still_runs_is_not_resumed(self):
        server = self.served()
        url = ("--url", f"http://127.0.0.1:{server.port}")
        file = self.write("a.txt", "".join(line("m", T + i, i, host="a") + "\n"
                                           for i in range(1000)))
        checkpoint = self.scratch / "halite-import.checkpoint"
        process = self.start_import(*url, "--rate", "1", file)
        self.addCleanup(process.kill)
        self.eventually("a checkpoint", checkpoint.exists)
        for more in ((), ("--resume",)):
            _, err = self.run_import(*url, *more, file, expect=FAILED)
            self.assertIn("another import, export or migration that still runs uses it", err)
        self.assertIsNone(process.poll())
        self.assertTrue(checkpoint.exists())
        process.kill()
        process.communicate()
        self.run_import(*url, "--resume", file)
        self.assertEqual(list(self.scratch.glob("*checkpoint*")), [])

    def test_resumes_before_the_first_interval(self):
        file = self.make_file("a.txt", False)
        errors = self.scratch / "errors"
        checkpoint = self.scratch / "halite-import.checkpoint"
        process = self.start_import("--errors", str(errors), "--rate", "100000", file)
        self.addCleanup(process.kill)
        self.eventually("a checkpoint", checkpoint.exists)
        time.sleep(0.5)
        process.kill()
        process.communicate()
        self.assertEqual(json.loads(checkpoint.read_text())["offset"], 0)
        out, _ = self.run_import("--errors", str(errors), "--resume", file, expect=REFUSED)
        wrong = self.STEPS // self.REPEATS
        self.assertIn(f", {wrong} lines refused", out)
        self.assertEqual(len(errors.read_text().splitlines()), wrong)
        self.assertFalse(checkpoint.exists())

    def test_of_an_older_version_it_empties_no_file(self):
        file = self.write("a.txt", "m x 1 host=a\n" + line("m", T, 1, host="a"))
        checkpoint = self.scratch / "halite-import.checkpoint"
        process = self.start_import("--rate", "1", self.make_file("b.txt", False))
        self.addCleanup(process.kill)
        self.eventually("a checkpoint", checkpoint.exists)
        process.kill()
        process.communicate()
        left = json.loads(checkpoint.read_text())
        del left["errors"]
        about = os.stat(file)
        left["inputs"] = [{"path": file, "bytes": about.st_size, "modified_ns": about.st_mtime_ns}]
        checkpoint.write_text(json.dumps(left))
        precious = self.write("precious", "precious")
        _, err = self.run_import("--errors", precious, "--resume", file, expect=FAILED)
        self.assertIn("exists; choose another file by --errors", err)
        self.assertEqual((self.scratch / "precious").read_text(), "precious")
        out, _ = self.run_import("--errors", str(self.scratch / "new"), "--resume", file,
                                 expect=REFUSED)
        self.assertIn("1 point stored, 1 line refused", out)


class ImportedViews(views_test.Views):
    """Points that an import adds and overwrites are in views, also after kill -9."""

    def test_views_follow_an_import(self):
        rules = (views_test.BY_DC, views_test.ALL_TAGS)
        self.start(*rules)
        self.send(self.history())
        self.restart(*rules)
        self.wait_until_built()
        answers = self.check("history")
        self.assertEqual(self.halite.terminate(), 0, self.halite.log_text())
        file = self.scratch / "points.txt"
        file.write_text("\n".join(self.history() + self.late(5)))
        kills = 0
        while True:
            process = subprocess.Popen(
                [support.binary(), "import", "--data-dir", str(self.scratch / "data"), "--quiet",
                 "--resume", "--checkpoint-interval", "0.01", "--set", "views=" + json.dumps(rules),
                 str(file)],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.scratch,
                env=support.clean_environment())
            try:
                _, err = process.communicate(
                    timeout=self.random.random() if kills < 5 else support.START_SECONDS)
                self.assertEqual(process.returncode, ALL, err)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        print(f"{kills} kills", flush=True)
        self.start(*rules)
        at_once = self.check("imported, at once", named=False)
        self.assertNotEqual(at_once, answers)
        self.wait_until_built()
        self.assertEqual(self.check("imported, computed again"), at_once)


for inherited in dir(views_test.Views):
    if inherited.startswith("test_"):  # views_test runs them
        setattr(ImportedViews, inherited, None)

if __name__ == "__main__":
    support.main()
