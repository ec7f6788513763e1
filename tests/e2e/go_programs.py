"""Real programs that are built from Go modules, once: they stay in build/clients/go."""

import os
import pathlib
import shutil
import subprocess
import unittest

import support

BUILD_SECONDS = 1200


def go_program(package, version):
    """The program that `go install PACKAGE@VERSION` makes. Skips the test where that cannot be had: there is
    no Go, it is too old, the registry does not answer, or NO_GO_BUILDS says that a build takes too long."""
    directory = support.CLIENTS / "go" / version
    program = directory / pathlib.PurePosixPath(package).name
    if program.exists():
        return str(program)
    if os.environ.get("NO_GO_BUILDS"):
        raise unittest.SkipTest(f"{program.name} is not built yet, and NO_GO_BUILDS forbids it")
    if not shutil.which("go"):
        raise unittest.SkipTest("go is not installed")
    directory.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["go", "install", "-trimpath", f"{package}@{version}"], cwd=directory,
                          env={**os.environ, "GOBIN": str(directory)}, capture_output=True, text=True,
                          timeout=BUILD_SECONDS, check=False)
    if done.returncode:
        raise unittest.SkipTest(f"go install {package}@{version}: {done.stderr[-1000:]}")
    return str(program)
