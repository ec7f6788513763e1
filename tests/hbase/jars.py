"""The class path of a pom beside this file: Maven fetches the jars from Maven Central, once."""

import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Class paths and compiled classes; the jars themselves are in Maven's own repository.
CACHE = os.path.join(HERE, "..", "..", "build", "hbase")
ATTEMPTS = 4
# Another HBase than the one that pom-hbase.xml names: 2.5.13-hadoop3, say.
VERSION = os.environ.get("HALITE_TEST_HBASE_VERSION", "")


class Trouble(Exception):
    """Told to whoever runs the tests as it is."""


def _sum_of(*files):
    total = hashlib.sha256(VERSION.encode())
    for name in files:
        with open(name, "rb") as file:
            total.update(file.read())
    return total.hexdigest()[:12]


def _read_class_path(path):
    """None: there is none, or Maven's repository lost some of it."""
    try:
        with open(path, encoding="utf-8") as file:
            class_path = file.read().strip()
    except FileNotFoundError:
        return None
    jars = class_path.split(":")
    return class_path if class_path and all(os.path.exists(jar) for jar in jars) else None


def _fetch(pom, into):
    """Maven retries one download itself; we retry all of it, as it goes on where it ended."""
    log_name = into + ".log"
    command = ["mvn", "-B", "-q", "-f", pom, "dependency:build-classpath",
               f"-Dmdep.outputFile={into}", "-Dmaven.wagon.http.retryHandler.count=3",
               "-Dmaven.wagon.rto=60000", *([f"-Dhbase.version={VERSION}"] if VERSION else [])]
    for attempt in range(1, ATTEMPTS + 1):
        with open(log_name, "w", encoding="utf-8") as log:
            if subprocess.run(command, stdout=log, stderr=log, check=False).returncode == 0:
                return
        print(f"hbase: attempt {attempt} to fetch the jars failed", file=sys.stderr)
        if attempt < ATTEMPTS:
            time.sleep(5 * attempt)
    with open(log_name, encoding="utf-8") as log:
        tail = "".join(line for line in log if "ERROR" in line)[:2000]
    raise Trouble(f"Maven Central did not give the jars that {os.path.relpath(pom)} names "
                  f"({ATTEMPTS} attempts, all output in {os.path.relpath(log_name)}):\n{tail}")


def class_path(name):
    """Of pom-NAME.xml; for hbase, with our own classes before it."""
    for command in ("java", "javac", "mvn"):
        if shutil.which(command) is None:
            raise Trouble(f"'{command}' is missing: apt-get install default-jdk-headless maven")
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # let go of when it is closed
        pom = os.path.join(HERE, f"pom-{name}.xml")
        path = os.path.join(os.path.realpath(CACHE), f"{name}-{_sum_of(pom)}.classpath")
        found = _read_class_path(path)
        if found is None:
            print(f"hbase: Maven fetches the jars of {name}", file=sys.stderr)
            _fetch(pom, path)
            found = _read_class_path(path)
            if found is None:
                raise Trouble(f"Maven wrote no class path into {path}")
        return _with_our_classes(found, pom) if name == "hbase" else found


def _with_our_classes(jars, pom):
    sources = sorted(glob.glob(os.path.join(HERE, "java", "*.java")))
    cache = os.path.realpath(CACHE)
    classes = os.path.join(cache, f"classes-{_sum_of(pom, *sources)}")
    if not os.path.isdir(classes):
        made = classes + ".new"
        shutil.rmtree(made, ignore_errors=True)
        subprocess.run(["javac", "-d", made, "-cp", jars, *sources], check=True)
        os.rename(made, classes)
    # The servers refuse to start without these folders, which are not in the jars.
    for folder in ("master", "regionserver", "static"):
        os.makedirs(os.path.join(cache, "webapps", "hbase-webapps", folder), exist_ok=True)
    return ":".join([os.path.join(cache, "webapps"), classes, jars])
