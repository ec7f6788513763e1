"""What all packages contain: the files of `cmake --install` and of deploy/make, below a prefix."""

import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def run(*command, **more):
    """Runs a command, which must succeed: its standard output."""
    done = subprocess.run([str(word) for word in command], check=False, text=True, stdout=subprocess.PIPE, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}")
    return done.stdout


def native():
    """This machine's architecture, as Debian names it."""
    return run("dpkg", "--print-architecture").strip()


def strip(binary, architecture):
    run("strip" if architecture == native() else {"arm64": "aarch64-linux-gnu-strip"}[architecture], binary)


def install(build, root, prefix):
    """Installs into the directory `root` as if it were /: the prefix there, and the directory of what deploy/make wrote."""
    below = root / prefix.relative_to("/")
    run("cmake", "--install", build, "--prefix", prefix, env={**os.environ, "DESTDIR": str(root)})
    written = root.parent / "written"
    run(sys.executable, SOURCE / "deploy/make", "--halite", build / "halite", "--into", written)
    for name, into in (("halite.1", "man/man1/halite.1"), ("halite.toml.5", "man/man5/halite.toml.5"),
                       ("halite.bash", "bash-completion/completions/halite"), ("_halite", "zsh/vendor-completions/_halite"),
                       ("halite.fish", "fish/vendor_completions.d/halite.fish")):
        (below / "share" / into).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(written / name, below / "share" / into)
    return below, written


def normalize(root, seconds):
    """Times of the commit, and modes that do not depend on who builds: 755 for directories and programs, else 644."""
    for path in [root, *root.rglob("*")]:
        os.utime(path, (seconds, seconds), follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def pack(directory, seconds):
    """DIRECTORY.tar.gz: the same bytes whenever and by whomever it is packed."""
    packed = directory.parent / f"{directory.name}.tar.gz"
    run("tar", "--sort=name", f"--mtime=@{seconds}", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu",
        "--use-compress-program=gzip -9 -n", "-cf", packed, "-C", directory.parent, directory.name)
    return packed
