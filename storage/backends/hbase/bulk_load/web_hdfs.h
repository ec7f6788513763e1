// Files in HDFS, over WebHDFS: HTTP to NameNodes and DataNodes, without a JVM.
//
//   Upload   CREATE at the NameNode, which names a DataNode; the file goes there, under a temporary
//            name; its length is compared; RENAME.
//   Standby  Of several NameNodes, one is active. Each request begins with the one that answered
//            last, and goes on to the others.
//   Retries  Requests that fail for a while are repeated five times. A broken upload is not: the
//            caller has the bytes and writes the file again.
//   Rights   user.name, which HDFS believes without Kerberos. With Kerberos: kUnauthenticated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "storage/backends/hbase/bulk_load/load_directory.h"

namespace halite::storage::hbase {

[[nodiscard]] std::unique_ptr<LoadDirectory> make_web_hdfs(std::vector<Endpoint> name_nodes,
                                                           std::string dir,
                                                           LoadDirectoryOptions options);

}  // namespace halite::storage::hbase
