"""Real programs that are built from Go modules, once: they stay in build/clients/go."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import unittest

import support

BUILD_SECONDS = 1200
BUILDER = "go.opentelemetry.io/collector/cmd/builder"
GO_VERSION = "1.25.0"  # of the collector's sources


def go_program(package, version, tags=()):
    """The program that `go install -tags TAGS PACKAGE@VERSION` makes. Skips the test where that cannot be had: there is
    no Go, it is too old, the registry does not answer, or NO_GO_BUILDS says that a build takes too long."""
    directory = directory_of(version, *tags)
    program = directory / pathlib.PurePosixPath(package).name
    if not program.exists():
        build(program, directory, "go", "install", "-trimpath", "-tags", ",".join(tags), f"{package}@{version}")
    return str(program)


def collector(version, modules):
    """An OpenTelemetry collector with some components, by OpenTelemetry's builder. `modules`: {"exporters": [module, ...]}
    and so on; all have the version. Skips as go_program() does."""
    directory = directory_of(version, *(module for some in modules.values() for module in some))
    program = directory / "otelcol"
    if program.exists():
        return str(program)
    builder = go_program(BUILDER, version)
    sources = directory / "otelcol_sources"
    manifest = directory / "otelcol.yaml"
    directory.mkdir(parents=True, exist_ok=True)
    manifest.write_text(f"dist: {{name: otelcol, output_path: {sources}}}\n" + "".join(
        f"{kind}:\n" + "".join(f"  - gomod: {module} {version}\n" for module in some)
        for kind, some in modules.items()))
    build(program, directory, builder, f"--config={manifest}", "--skip-get-modules", "--skip-compilation")
    # The builder itself would fetch what the tests of all modules need, too.
    needed = ["go.opentelemetry.io/collector/otelcol", *(module for some in modules.values() for module in some)]
    (sources / "go.mod").write_text(f"module {BUILDER}\n\ngo {GO_VERSION}\n" +
                                    "".join(f"require {module} {version}\n" for module in needed))
    build(program, sources, "go", "build", "-mod=mod", "-trimpath", "-o", str(program), ".")
    shutil.rmtree(sources)
    return str(program)


def directory_of(version, *contents):
    """Of a program that was built with these contents."""
    digest = hashlib.sha256(" ".join(contents).encode()).hexdigest()[:8]
    return support.CLIENTS / "go" / (f"{version}-{digest}" if contents else version)


def build(program, directory, *command):
    """Runs a command that helps to make the program."""
    if os.environ.get("NO_GO_BUILDS"):
        raise unittest.SkipTest(f"{program.name} is not built yet, and NO_GO_BUILDS forbids it")
    if not shutil.which("go"):
        raise unittest.SkipTest("go is not installed")
    directory.mkdir(parents=True, exist_ok=True)
    said = " ".join(map(str, command))
    try:
        done = subprocess.run(command, cwd=directory, env={**os.environ, "GOBIN": str(program.parent)},
                              capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise unittest.SkipTest(f"{said}: takes more than {BUILD_SECONDS} s") from error
    if done.returncode:
        raise unittest.SkipTest(f"{said}: {done.stderr[-1000:]}")
