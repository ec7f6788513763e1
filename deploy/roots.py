"""Roots of Debian and Ubuntu, made by debootstrap and kept: work in them, and commands that leave them as they are."""

import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess
import urllib.request

DEBIAN = "http://deb.debian.org/debian"
UBUNTU = "http://archive.ubuntu.com/ubuntu"
# Debian 12 has no package with the keys that sign Ubuntu.
UBUNTU_KEYS = (f"{UBUNTU}/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb",
               "36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8")
PACKAGES = "systemd,dbus,ca-certificates"

# The root itself, with the source at /halite and a directory of its own for builds.
WORK_IN = """
set -e
mount --make-rprivate /
mkdir -p "$1/halite"
mount --bind "$2" "$1/halite"
mount --bind "$3" "$1/halite/build"
mount -t proc proc "$1/proc"
mount --rbind /sys "$1/sys"
mount --rbind /dev "$1/dev"
cd /
exec chroot "$1" /bin/sh -e -c "cd /halite; $4"
"""

# The root with a layer in memory above it. Directories named are shown below /mnt.
ENTER = """
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o "lowerdir=$1",upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
mount -t proc proc /mnt/root/proc
mount --rbind /dev /mnt/root/dev
mount --bind "$2" /mnt/root/mnt
exec chroot /mnt/root /bin/sh -e -c "$3"
"""


@dataclasses.dataclass(frozen=True)
class System:
    suite: str
    mirror: str = DEBIAN
    components: str = "main"
    suites: tuple = ()  # more of them, from which apt takes packages later
    script: str = ""  # of debootstrap, where it does not know the suite
    keys: tuple = ()  # (address, SHA-256) of a package with the keys that sign it; (): this machine has them
    architecture: str = ""  # of its programs, where it is not this machine's: QEMU runs them
    name: str = ""  # of its directory, where it is not the suite's


BULLSEYE, BOOKWORM, TRIXIE = System("bullseye"), System("bookworm"), System("trixie")
BULLSEYE_ARM64 = System("bullseye", architecture="arm64", name="bullseye-arm64")
NOBLE = System("noble", UBUNTU, "main,universe", ("noble-updates",), "gutsy", UBUNTU_KEYS)


def made(system, kept):
    """The directory of a root that boots, and knows the certificates of the web."""
    root = kept / (system.name or system.suite)
    if not (root / "made").exists():
        shutil.rmtree(root, ignore_errors=True)
        kept.mkdir(parents=True, exist_ok=True)
        signed = [f"--keyring={_keyring(system, kept)}"] if system.keys else []
        script = [system.script] if system.script else []
        foreign = [f"--arch={system.architecture}"] if system.architecture else []
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", f"--components={system.components}", *signed,
                        *foreign, system.suite, root, system.mirror, *script], check=True)
        if system.suites:
            (root / "etc/apt/sources.list").write_text("".join(
                f"deb {system.mirror} {suite} {system.components.replace(',', ' ')}\n" for suite in (system.suite, *system.suites)))
        (root / "made").touch()
    return root


def _keyring(system, kept):
    address, sha256 = system.keys
    with urllib.request.urlopen(address, timeout=60) as answer:
        package = answer.read()
    if hashlib.sha256(package).hexdigest() != sha256:
        raise SystemExit(f"{address} is not the file that it was")
    saved = kept / "keys.deb"
    saved.write_bytes(package)
    subprocess.run(["dpkg-deb", "-x", saved, kept / "keys"], check=True)
    return kept / "keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"


def download(root, package):
    """Leaves in the root what apt needs to install a package without a network."""
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    shutil.copyfile(package, root / "tmp" / package.name)
    for command in (["update"], ["install", "-y", "--download-only", f"/tmp/{package.name}"]):
        subprocess.run(["chroot", root, "apt-get", "-q", *command], check=True, stdout=subprocess.DEVNULL,
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"})
    (root / "tmp" / package.name).unlink()


def work_in(root, source, build, script):
    """Runs a script in the source, as seen from a root; what it installs stays there. The exit status."""
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    build.mkdir(parents=True, exist_ok=True)
    (source / "build").mkdir(exist_ok=True)
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                   # git asks who owns a source.
                   "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "/halite"}
    return subprocess.run(["unshare", "--fork", "--kill-child", "--pid", "--mount", "bash", "-c", WORK_IN, "bash",
                           root, source, build, script], stdin=subprocess.DEVNULL, check=False, env=environment).returncode


class Inside:
    """A shell in a root, in namespaces of its own but with the network of this machine. `shown` is a directory, at /mnt."""

    def __init__(self, root, shown, script):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        self.process = subprocess.Popen(
            ["unshare", "--fork", "--kill-child", "--pid", "--mount", "bash", "-c", ENTER, "bash", root, shown, script],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)

    def finish(self, seconds=120):
        """(exit status, output)"""
        out, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode, out

    def maps(self):
        """The files that the process named halite has mapped, as it sees them."""
        for pid in _below(self.process.pid):
            try:
                if pathlib.Path(f"/proc/{pid}/comm").read_text() == "halite\n":
                    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
                    return {line.split(maxsplit=5)[5] for line in lines if line.count(" /")}
            except FileNotFoundError:
                continue
        return set()

    def close(self):
        self.process.kill()
        self.process.communicate()


def _below(pid):
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return
    for child in children:
        yield child
        yield from _below(child)


def may():
    """Whether this process may make roots and enter them."""
    return os.geteuid() == 0 and shutil.which("debootstrap") and shutil.which("unshare")


def emulate_arm64():
    """Lets the kernel run programs for arm64, also in roots. The packages systemd and qemu-user-static must be there."""
    rule = pathlib.Path("/proc/sys/fs/binfmt_misc/qemu-aarch64")
    if not rule.exists():
        subprocess.run(["/usr/lib/systemd/systemd-binfmt", "/usr/lib/binfmt.d/qemu-aarch64.conf"], check=False)
    if not rule.exists():
        raise SystemExit("this kernel does not run programs for arm64 in QEMU: it takes no rules in /proc/sys/fs/binfmt_misc")
