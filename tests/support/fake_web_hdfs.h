// A NameNode and a DataNode of HDFS that speak WebHDFS over real sockets, with files in memory.
//
//   FakeWebHdfs hdfs;
//   hdfs.script([](const FakeWebCall& call) -> FakeWebReaction {
//     if (call.operation == "RENAME") return {.what = FakeWebReaction::kStandby};
//     return {};
//   });
//
//   Threads  one of its own; any call from any thread. The script runs on that thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/backends/hbase/rpc/options.h"

namespace halite::test {

struct FakeWebCall {
  std::string operation;   // "MKDIRS", "CREATE", ..; "upload" at the DataNode
  std::string path;        // decoded, without /webhdfs/v1
  std::string target;      // as it was sent
  std::size_t number = 0;  // of calls of this operation so far, this one too
  std::size_t server = 0;  // NameNodes are 0 and 1, the DataNode is 2
};

struct FakeWebReaction {
  enum What : std::uint8_t {
    kAnswer,
    kStandby,    // StandbyException with 403
    kForbidden,  // AccessControlException
    kRetriable,  // RetriableException with 403
    kClose,      // the connection, nothing done
    kCloseDone,  // done, then the connection
    kFalse,      // {"boolean":false}, nothing done
    kNonsense,   // an answer that is not JSON; of CREATE: without a place
    kTruncate,   // of an upload: half of it is stored, and all is well
    kFail,       // 500 without JSON
  };
  What what = kAnswer;
};

class FakeWebHdfs {
 public:
  using Script = std::function<FakeWebReaction(const FakeWebCall&)>;

  FakeWebHdfs();
  ~FakeWebHdfs();
  FakeWebHdfs(const FakeWebHdfs&) = delete;

  [[nodiscard]] std::uint16_t port(std::size_t server) const;
  // The name of the DataNode in redirects; "localhost" at first.
  void set_data_node(std::string host);
  void script(Script script);
  [[nodiscard]] std::map<std::string, std::string> files() const;  // path: content
  void put(const std::string& path, std::string content);
  [[nodiscard]] std::size_t calls(const std::string& operation) const;
  [[nodiscard]] std::vector<std::string> targets() const;  // of all calls, as they were sent

 private:
  class World;
  const std::unique_ptr<World> world_;
};

}  // namespace halite::test
