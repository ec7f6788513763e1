// How a Client finds HBase, and all its limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/backends/hbase/rpc/security_options.h"

namespace halite::storage::hbase {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
  auto operator<=>(const Endpoint&) const = default;
};

// The durability of writes: docs/operate/hbase.md. The numbers are HBase's.
enum class Durability : std::uint8_t {
  kTableDefault = 0,
  kSkipLog = 1,   // lost if a region server dies before its next flush
  kAsyncLog = 2,  // in the log soon
  kSyncLog = 3,   // in the memory of the machines that store the log
  kForceLog = 4,  // on their disks
};

// The address of a server with a given name in hbase:meta, for containers and address translation.
struct HostOverride {
  std::string host;
  Endpoint instead;  // port 0 = as in hbase:meta
};

struct ClientOptions {
  // Where to find hbase:meta and the master: ZooKeeper's hosts, or, if given, masters and region
  // servers that act as registry (HBase 2.5 and newer). These need no ZooKeeper.
  std::vector<Endpoint> quorum;
  std::string root = "/hbase";  // ZooKeeper's node of this cluster
  std::vector<Endpoint> registry;

  std::string user = "halite";  // without Kerberos; HBase believes it
  KerberosOptions kerberos;
  TlsOptions tls;
  std::vector<HostOverride> hosts;
  Durability durability = Durability::kForceLog;

  // Times in milliseconds.
  std::uint32_t connect_ms_max = 5'000;  // name, TCP, greeting; also one read from ZooKeeper
  std::uint32_t call_ms_max = 20'000;  // one request to one server, including its wait in the queue
  std::uint32_t operation_ms_max = 60'000;   // one call of Client, with all retries
  std::uint32_t procedure_ms_max = 300'000;  // create_table() and other procedures of the master
  std::uint32_t silence_ms_max = 15'000;     // a server that owes an answer and is silent is dead
  std::uint32_t idle_ms_max = 120'000;       // an unused connection is closed
  std::uint32_t pause_ms_min = 50;           // before the first retry; doubles with each
  std::uint32_t pause_ms_max = 5'000;
  std::uint32_t overloaded_ms_min = 500;  // the first pause after "too busy"

  // Sizes in bytes.
  std::size_t value_bytes_max = 10 << 20;      // of one cell; HBase's own default limit
  std::size_t request_bytes_max = 8 << 20;     // of one request; larger batches become several
  std::size_t response_bytes_max = 256 << 20;  // a longer answer breaks the connection
  std::size_t scan_batch_bytes_max = 1 << 20;  // that a server collects for one answer to a scan

  // Limits on running work; further requests wait.
  std::size_t server_calls_max = 256;           // for one server
  std::size_t server_bytes_max = 32 << 20;      // of requests for one server
  std::size_t server_batches_max = 8;           // batches of writes or reads for one server
  std::size_t operation_bytes_max = 256 << 20;  // of writes and reads of the whole client
  std::size_t batch_actions_max = 1'000;        // rows in one request
  std::size_t lookup_rows_max = 500;            // regions requested at once
  std::size_t regions_max = 100'000;            // of one table

  // An idle scanner keeps its lease for this time. Later reads open it again where it was.
  std::uint32_t scanner_idle_ms_max = 600'000;

  std::uint64_t seed = 0;  // of pauses and nonces; 0 = one from the system
};

}  // namespace halite::storage::hbase
