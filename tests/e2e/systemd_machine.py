"""A machine of systemd's in namespaces of its own: processes, mounts, network, host name.

Its files are those of a root directory, by default of this machine's, with a layer in memory above them, so that nothing done
there is seen here.
"""

import os
import pathlib
import subprocess
import tempfile
import time

SYSTEMD = pathlib.Path("/lib/systemd/systemd")
# What services in general may ask of it, each with namespaces of its own.
SANDBOX = ("DynamicUser=yes", "PrivateUsers=yes", "PrivateDevices=yes", "ProtectSystem=strict", "ProtectProc=invisible")

# Propagation is shared as systemd has it where it starts by itself: credentials reach services that way. The old root is
# left by pivot_root, as in a chroot nobody may make user namespaces (PrivateUsers=).
BOOT = """
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir upper work root
mount -t overlay overlay -o "lowerdir=$2",upperdir=upper,workdir=work root
mount -t proc proc root/proc
mount -t sysfs sysfs root/sys
mount -t cgroup2 cgroup2 root/sys/fs/cgroup
mount --rbind /dev root/dev
mount -t tmpfs tmpfs root/run
mount -t tmpfs tmpfs root/tmp
for shown in "${@:3}"; do
  mkdir -p "root$shown"
  mount --bind "$shown" "root$shown"
done
rm -rf root/etc/systemd/system/*.wants
mkdir -p root/mnt/old
cd root
pivot_root . mnt/old
umount -l mnt/old
mount --make-rshared /
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
  /lib/systemd/systemd --system --unit=basic.target --log-target=journal --show-status=no
"""


class NoMachine(Exception):
    """There is no systemd, or no right to the namespaces and mounts that it and its services want."""


class Machine:
    """`root` is the directory with its system. `shown` are directories that it sees as they are here, wherever they are mounted."""

    def __init__(self, shown, root="/"):
        if os.geteuid() != 0 or not SYSTEMD.exists():
            raise NoMachine("wants root and systemd")
        self.root = tempfile.mkdtemp(prefix="halite-systemd-")
        self.holder = subprocess.Popen(
            ["unshare", "--fork", "--kill-child", "--pid", "--mount", "--cgroup", "--uts", "--ipc", "--net",
             "bash", "-c", BOOT, "bash", self.root, str(root), *map(str, shown)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.init = None
        try:
            self._wait_for_boot()
            for setting in SANDBOX:
                done = self.run("systemd-run", "--quiet", "--wait", "-p", setting, "true", check=False)
                if done.returncode != 0:
                    raise NoMachine(f"no service with {setting}: {done.stderr}")
        except BaseException:
            self.close()
            raise

    def _wait_for_boot(self, seconds=60):
        deadline = time.monotonic() + seconds
        said = ""
        while time.monotonic() < deadline:
            if self.holder.poll() is not None:
                raise NoMachine(self.holder.stderr.read().decode())
            self.init = self._systemd()
            if self.init is not None:
                said = self.run("systemctl", "is-active", "basic.target", check=False).stdout
                if said == "active\n":
                    return
            time.sleep(0.1)
        raise NoMachine(f"systemd did not reach basic.target in {seconds} s: {said}")

    def _systemd(self):
        """The process that is the first one there, once it is systemd; else None."""
        try:
            children = pathlib.Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text().split()
            is_there = children and pathlib.Path(f"/proc/{children[0]}/comm").read_text() == "systemd\n"
        except FileNotFoundError:
            return None  # it has just ended
        return children[0] if is_there else None

    def run(self, *command, check=True, text=None):
        """Runs a command there: what subprocess.run tells, as text."""
        done = subprocess.run(["nsenter", "-t", self.init, "-a", *command], input=text or "", text=True,
                              capture_output=True, check=False, timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def properties(self, unit, *names):
        """{name: value} as `systemctl show` has them."""
        told = self.run("systemctl", "show", unit, "-p", ",".join(names)).stdout
        return dict(line.split("=", 1) for line in told.splitlines())

    def close(self):
        self.holder.kill()  # and with its init all that runs there
        self.holder.wait()
        self.holder.stderr.close()
        os.rmdir(self.root)
