"""A tarball that needs of a system the kernel and a shell: it has all libraries, also the C library."""

import pathlib
import shutil

import libraries
import tree


def make(build, work, commit, architecture):
    """Returns the tarball."""
    shutil.rmtree(work, ignore_errors=True)
    name = f"halite-{commit.version}-linux-{architecture}"
    root = work / name
    _, written = tree.install(build, work / "installed", pathlib.Path("/opt/halite"))
    shutil.move(work / "installed/opt/halite", root)
    binary = root / "lib/halite"
    shutil.move(root / "bin/halite", binary)
    found = libraries.find(binary)
    for path in (found.loader, *found.files):
        shutil.copyfile(path.resolve(), root / "lib" / path.name)
    (root / "lib" / found.loader.name).chmod(0o755)
    tree.strip(binary, architecture)
    shutil.copytree(found.gconv, root / "lib/gconv", ignore=lambda folder, names: {"gconv-modules.cache"})
    libraries.copy_zones(root / "share/zoneinfo")
    libraries.write_licences(found, architecture, root / "licences")
    start = root / "bin/halite"
    start.write_text((tree.SOURCE / "deploy/package/halite.sh").read_text().replace("@LOADER@", found.loader.name))
    start.chmod(0o755)
    (root / "etc").mkdir()
    shutil.copyfile(written / "halite.toml", root / "etc/halite.toml")
    tree.normalize(root, commit.seconds)
    return tree.pack(root, commit.seconds)
