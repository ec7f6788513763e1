"""That what the tests of HBase stand on works: tables are made, and a dump of an empty one is empty."""

import sys
import unittest

from cluster import Tables


class ClusterTest(unittest.TestCase):
    def test_tables_are_made_and_dumped(self):
        tables = Tables.of_environment()
        self.addCleanup(tables.tool, "drop", "cluster-test")
        tables.tool("create", "cluster-test", "GZ", "DIFF", "40,80", "t")
        self.assertEqual(tables.dump("cluster-test"), {})
        starts = sorted(line.split("\t")[2] for line in tables.tool("regions", "cluster-test").stdout.splitlines())
        self.assertEqual(starts, ["", "40", "80"])
        self.assertIn("cluster-test\tt:GZ:DIFF", tables.tool("list").stdout)


if __name__ == "__main__":
    sys.exit(unittest.main())
