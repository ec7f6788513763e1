"""What `docker build` and `buildah build` need for the image: the Containerfile and the files of its root."""

import pathlib
import shutil

import libraries
import tree

USER = 4242  # the Containerfile names it

PASSWD = f"root:x:0:0:root:/:/sbin/nologin\nhalite:x:{USER}:{USER}:Halite:/var/lib/halite:/sbin/nologin\n"
GROUP = f"root:x:0:\nhalite:x:{USER}:\n"


def make(build, work, commit, architecture):
    """Returns the packed directory."""
    shutil.rmtree(work, ignore_errors=True)
    name = f"halite-{commit.version}-container-{architecture}"
    context = work / name
    root = context / "root"
    tree.install(build, work / "installed", pathlib.Path("/usr"))
    binary = root / "usr/bin/halite"
    binary.parent.mkdir(parents=True)
    shutil.move(work / "installed/usr/bin/halite", binary)
    found = libraries.find(binary)
    triplet = found.gconv.parent.name
    into = root / "usr/lib" / triplet
    into.mkdir(parents=True)
    for path in found.files:
        shutil.copyfile(path.resolve(), into / path.name)
    loader = root / str(found.loader).removeprefix("/")
    loader.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(found.loader.resolve(), loader)
    loader.chmod(0o755)
    tree.strip(binary, architecture)
    shutil.copytree(found.gconv, into / "gconv")
    libraries.copy_zones(root / "usr/share/zoneinfo")
    libraries.write_licences(found, architecture, root / "usr/share/doc/halite/licences")
    for path, text in (("etc/passwd", PASSWD), ("etc/group", GROUP), ("etc/nsswitch.conf", "hosts: files dns\n")):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (context / "data").mkdir()
    shutil.copyfile(tree.SOURCE / "deploy/container/Containerfile", context / "Containerfile")
    tree.normalize(context, commit.seconds)
    (context / "data").chmod(0o700)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    return tree.pack(context, commit.seconds)
