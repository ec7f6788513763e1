"""Bulk loads by way of a real HDFS, over WebHDFS. With an HBase and an HDFS of its own."""

import argparse
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from cluster import Cluster  # noqa: E402
from hdfs import Hdfs  # noqa: E402
from jars import Trouble  # noqa: E402

LOADER = None
START = 1356998400
HOSTS = 20
POINTS = 360


def lines():
    return "".join(f"m {START + 10 * i} {host * i} host=h{host}\n" for host in range(HOSTS) for i in range(POINTS))


class HdfsTest(unittest.TestCase):
    def load(self, cluster, prefix, url, *more):
        return subprocess.run([LOADER, cluster.quorum, prefix, url, *more], input=lines(), text=True, check=False,
                              capture_output=True)

    def test_regions_take_files_from_hdfs(self):
        with Hdfs() as hdfs, Cluster(root=hdfs.url + "/hbase") as cluster:
            hdfs.web_hdfs("PUT", "/loads", op="MKDIRS", permission="777")
            loaded = self.load(cluster, "b-", f"webhdfs://{hdfs.web}/loads/here")
            self.assertEqual(loaded.returncode, 0, loaded.stdout + loaded.stderr)
            self.assertEqual(loaded.stdout.splitlines()[-1].split()[:2], [str(HOSTS * POINTS), str(HOSTS)])
            cells = cluster.dump("b-tsdb")
            self.assertEqual(len(cells), HOSTS)
            self.assertEqual({len(qualifier) for _, _, qualifier in cells}, {4 * POINTS})
            # Nothing stays, neither in the directory nor where HBase takes files over.
            self.assertEqual(hdfs.names("/loads/here/t"), [])
            self.assertEqual(hdfs.names("/hbase/staging"), [])
            files = [name for region in hdfs.names("/hbase/data/default/b-tsdb") if not region.startswith(".")
                     for name in hdfs.names(f"/hbase/data/default/b-tsdb/{region}/t")]
            self.assertTrue(files and all("_SeqId_" in name for name in files), files)
            # A directory where the user has no rights, and a NameNode that is not there.
            refused = self.load(cluster, "b-", f"webhdfs://{hdfs.web}/hbase/here")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("AccessControlException", refused.stderr)
            either = self.load(cluster, "b-", f"webhdfs://127.0.0.1:1,{hdfs.web}/loads/here")
            self.assertEqual(either.returncode, 0, either.stdout + either.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--loader", required=True)
    options, rest = parser.parse_known_args()
    LOADER = os.path.abspath(options.loader)
    try:
        sys.exit(unittest.main(argv=sys.argv[:1] + rest))
    except Trouble as trouble:
        sys.exit(str(trouble))
