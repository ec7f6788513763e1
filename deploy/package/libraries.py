"""The shared libraries of a binary, the packages of Debian that they are from, and their licences."""

import dataclasses
import pathlib
import re
import shutil

import tree

# Headers that are compiled into the binary. Where both exist, the library is among the shared ones too.
COMPILED_IN = ("libboost1.81-dev", "libcli11-dev", "libfmt-dev", "libspdlog-dev", "libtomlplusplus-dev", "libsimdjson-dev",
               "librocksdb-dev", "prometheus-cpp-dev", "libprotobuf-dev", "libroaring-dev", "libcctz-dev", "libre2-dev",
               "libxxhash-dev", "libstdc++-12-dev")
DATA = ("tzdata",)


@dataclasses.dataclass
class Libraries:
    loader: pathlib.Path  # as the kernel finds it: /lib64/ld-linux-x86-64.so.2
    files: list  # of libraries, without the loader
    gconv: pathlib.Path  # charsets of the C library


def find(binary):
    # What ldd does, for any processor whose programs run here.
    interpreter = re.search(r"program interpreter: (/\S+)\]", tree.run("readelf", "--program-headers", "--wide", binary))
    if not interpreter:
        raise SystemExit(f"{binary} is linked statically")
    loader = interpreter[1]
    files = []
    for line in tree.run(loader, "--list", binary).splitlines():
        named = re.match(r"\s+\S+ => (/\S+) ", line)
        if named and named[1] != loader:
            files.append(pathlib.Path(named[1]))
        elif not named and not re.match(rf"\s+({re.escape(loader)}|linux-vdso\S+|) \(0x", line):  # in QEMU, the last has no name
            raise SystemExit(f"{loader} --list {binary} says: {line}")
    libc = next(path for path in files if path.name == "libc.so.6")
    return Libraries(pathlib.Path(loader), sorted(files), pathlib.Path("/usr/lib") / libc.parent.name / "gconv")


def package_of(path):
    """The package that installed a file, as NAME or NAME:ARCHITECTURE; Debian 12 lists files of /usr/lib below /lib too."""
    for name in (path.resolve(), pathlib.Path(str(path.resolve()).removeprefix("/usr"))):
        listed = tree.run("sh", "-c", 'dpkg-query -S "$0" 2>/dev/null || true', name)
        if listed:
            return listed.split(": ")[0]
    raise SystemExit(f"no package has {path}")


def name_of(package):
    return package.split(":")[0]


def version_of(package, architecture):
    """The source package and its version."""
    found = tree.run("dpkg-query", "-W", "-f", "${Architecture} ${source:Package} ${source:Version}\n", name_of(package))
    for line in found.splitlines():
        if line.split()[0] in (architecture, "all"):
            return line.split()[1:]
    raise SystemExit(f"{package} is not installed for {architecture}")


def write_licences(libraries, architecture, into):
    """A directory with the licence of each package, and README.md, which lists what is from which."""
    into.mkdir(parents=True)
    bundled = {}
    for path in [libraries.loader, *libraries.files]:
        bundled.setdefault(package_of(path), []).append(path.name)
    text = ["# What is not Halite's\n",
            "Each package below is Debian 12's, unchanged. `PACKAGE.copyright` beside this file is its licence. Its source is at",
            "`https://snapshot.debian.org/package/SOURCE/VERSION/`.\n",
            "## Shared libraries, as files\n", "| package | source | version | files |", "|---|---|---|---|"]
    for package, names in sorted(bundled.items()):
        source, version = version_of(package, architecture)
        text.append(f"| {name_of(package)} | {source} | {version} | {', '.join(sorted(names))} |")
    text += ["\n## Linked statically: code of headers, compiled into the binary\n", "| package | source | version |", "|---|---|---|"]
    for package in COMPILED_IN:
        text.append(f"| {package} | {' | '.join(version_of(package, architecture))} |")
    text += ["\nAlso in the binary: uPlot 1.6.32 (MIT, `uplot.copyright`), which draws the page's graphs.\n",
             "## Data\n", "| package | source | version |", "|---|---|---|"]
    for package in DATA:
        text.append(f"| {package} | {' | '.join(version_of(package, architecture))} |")
    (into / "README.md").write_text("\n".join(text) + "\n")
    for package in {*map(name_of, bundled), *COMPILED_IN, *DATA}:
        shutil.copyfile(pathlib.Path("/usr/share/doc") / package / "copyright", into / f"{package}.copyright")
    shutil.copyfile(tree.SOURCE / "web/ui/vendor/uplot/LICENSE", into / "uplot.copyright")
    shutil.copytree("/usr/share/common-licenses", into / "common-licenses")  # to which the files above point


def copy_zones(into):
    """Time zones without those that count leap seconds, and without copies of them all."""
    shutil.copytree("/usr/share/zoneinfo", into, symlinks=True, ignore=lambda folder, names: {"right", "posix", "localtime"})
