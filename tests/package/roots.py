"""Fresh roots of Debian, made by debootstrap and kept, and commands in them that leave them as they are."""

import os
import pathlib
import shutil
import subprocess

MIRROR = "http://deb.debian.org/debian"
PACKAGES = "systemd,dbus,ca-certificates"

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


def debian(suite, kept):
    """The directory of a root that boots, and knows the certificates of the web."""
    root = kept / suite
    if not (root / "made").exists():
        shutil.rmtree(root, ignore_errors=True)
        kept.mkdir(parents=True, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, root, MIRROR], check=True)
        (root / "made").touch()
    return root


def download(root, package):
    """Leaves in the root what apt needs to install a package without a network."""
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    shutil.copyfile(package, root / "tmp" / package.name)
    for command in (["update"], ["install", "-y", "--download-only", f"/tmp/{package.name}"]):
        subprocess.run(["chroot", root, "apt-get", "-q", *command], check=True, stdout=subprocess.DEVNULL,
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"})
    (root / "tmp" / package.name).unlink()


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
