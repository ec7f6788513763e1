"""The .deb of Debian 12, by debhelper: docs/decisions/0096-packages.md."""

import datetime
import os
import pathlib
import shutil

import tree

CHANGELOG = """halite ({version}) bookworm; urgency=medium

  * Commit {revision}. /usr/share/doc/halite/CHANGELOG.md says what changed.

 -- Halite maintainers <maintainers@halite.invalid>  {when:%a, %d %b %Y %H:%M:%S} +0000
"""


def make(build, work, commit):
    """Returns the .deb with the server and the one with its debug symbols."""
    shutil.rmtree(work, ignore_errors=True)
    source = work / "source"
    debian = source / "debian"
    shutil.copytree(tree.SOURCE / "deploy/debian", debian)
    when = datetime.datetime.fromtimestamp(commit.seconds, datetime.timezone.utc)
    (debian / "changelog").write_text(CHANGELOG.format(version=commit.version, revision=commit.revision, when=when))
    root = debian / "halite"
    below, written = tree.install(build, root, pathlib.Path("/usr"))
    # debhelper installs these two, with what they need at install and removal.
    shutil.move(below / "lib/systemd/system/halite.service", debian / "halite.service")
    shutil.move(below / "lib/sysusers.d/halite.conf", debian / "halite.sysusers")
    shutil.rmtree(below / "lib")
    settings = root / "etc/halite/halite.toml"
    settings.parent.mkdir(parents=True)
    shutil.copyfile(written / "halite.toml", settings)
    tree.normalize(source, commit.seconds)
    # As dpkg-buildpackage says it after debian/control: anyone may make the package.
    tree.run("dh", "binary", "--with", "installsysusers", cwd=source, env={**os.environ, "DEB_RULES_REQUIRES_ROOT": "no"})
    return sorted(work.glob("*.deb"))
