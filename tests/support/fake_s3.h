// A bucket of an S3 store over real sockets, in memory. It checks signatures, and fails as it is
// told.
//
//   FakeS3 s3;
//   s3.script([](const FakeS3Call& call) -> FakeS3Reaction {
//     if (call.method == "PUT" && call.number == 1) return {.status = 503, .code = "SlowDown"};
//     return {};
//   });
//   auto store = S3Store::make(s3.options("prefix"));
//
//   Threads  one of its own; any call from any thread. The script runs on that thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "storage/tools/backup/s3/s3_options.h"

namespace halite::test {

struct FakeS3Call {
  std::string method;
  std::string key;                           // decoded; empty: the bucket
  std::map<std::string, std::string> query;  // decoded
  std::string range;                         // the header
  std::size_t number = 0;                    // of calls with this method so far, this one too
};

struct FakeS3Reaction {
  enum What : std::uint8_t {
    kAnswer,
    kClose,      // the connection, nothing done
    kCloseDone,  // done, then the connection
    kCut,        // done, then half of the answer
    kFlip,       // done, then the answer with a wrong byte in its middle
    kSilent,     // nothing done, and no answer ever
    kNoRange,    // the whole object in place of a range
  };
  What what = kAnswer;
  unsigned status = 0;                              // of an error in place of the answer; 0 = none
  std::string code = {};                            // of the error; empty = no XML
  std::map<std::string, std::string> headers = {};  // of the error
  std::string inside = {};                          // XML in the error
  std::string body = {};                            // in place of the answer; empty = none
};

class FakeS3 {
 public:
  static constexpr const char* kBucket = "backups";
  using Script = std::function<FakeS3Reaction(const FakeS3Call&)>;

  FakeS3();
  ~FakeS3();
  FakeS3(const FakeS3&) = delete;

  // Of a client that may use the bucket, with short pauses and parts of 1000 bytes.
  [[nodiscard]] storage::backup::S3Options options(const std::string& prefix) const;
  void script(Script script);
  // Of one page of a list; 1000 at first.
  void set_page(std::size_t objects);
  // The clock of LastModified.
  void set_now(TimestampMs now);

  [[nodiscard]] std::map<std::string, std::string> objects() const;  // key: content
  void put(const std::string& key, std::string content);
  void remove(const std::string& key);
  void begin_upload(const std::string& key);
  [[nodiscard]] std::size_t uploads() const;            // that are neither complete nor aborted
  [[nodiscard]] std::vector<FakeS3Call> calls() const;  // all so far

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::test
