// Requests to one bucket of an S3 store. Requests that fail for a while are repeated.
//
//   Memory   an object's range or part at a time.
//   Keys     are whole: with the prefix.
//   Threads  one thread at a time; blocks.
//   Errors   s3_errors.h; also kCancelled.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/tools/backup/s3/http_connection.h"
#include "storage/tools/backup/s3/s3_answers.h"
#include "storage/tools/backup/s3/s3_options.h"

namespace halite::storage::backup {

struct ByteRange {
  std::uint64_t begin = 0;  // included
  std::uint64_t end = 0;    // excluded
};

class S3Client {
 public:
  // kInvalidArgument: the file of CAs cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<S3Client>> make(S3Options options);

  // All objects whose keys begin with `prefix`, by key; with `flat` those without a '/' after it.
  // kUnsupported: the server's list does not end.
  Result<std::vector<ListedObject>> list(const std::string& prefix, bool flat);
  // A range of an object of `size` bytes. kCorruption: it has another size.
  Result<Bytes> read(const std::string& key, ByteRange range, std::uint64_t size);
  Result<void> put(const std::string& key, BytesView bytes);
  // Not an error if it does not exist.
  Result<void> remove(const std::string& key);

  // An object in parts. Parts are numbered from 1; all but the last have the same size.
  Result<std::string> begin_upload(const std::string& key);  // returns its id
  // Returns the ETag of the part.
  Result<std::string> put_part(const UnfinishedUpload& upload, std::uint32_t number,
                               BytesView bytes);
  Result<void> complete(const UnfinishedUpload& upload, const std::vector<std::string>& etags,
                        std::uint64_t size);
  // Not an error if it does not exist.
  Result<void> remove_upload(const UnfinishedUpload& upload);
  Result<std::vector<UnfinishedUpload>> unfinished_uploads(const std::string& prefix);

  // As put() and the others, but once, also after the end of the work.
  Result<void> remove_upload_last(const UnfinishedUpload& upload);
  Result<void> put_last(const std::string& key, BytesView bytes);
  Result<void> remove_last(const std::string& key);

  [[nodiscard]] const S3Options& options() const { return options_; }

 private:
  struct Call {
    std::string method;
    std::string key;  // empty: the bucket
    std::map<std::string, std::string> query = {};
    std::string range = {};  // the header; empty: none
    BytesView body = {};
    std::uint64_t answer_bytes_max = 8 << 20;
    bool last = false;
    bool (*accepts)(const HttpAnswer&) = nullptr;  // of an answer with a good status; null: all
  };

  S3Client(S3Options options, std::unique_ptr<HttpConnection> connection)
      : options_(std::move(options)), connection_(std::move(connection)) {}

  Result<HttpAnswer> call(const Call& call);
  [[nodiscard]] HttpRequest request_of(const Call& call) const;
  [[nodiscard]] std::string name_of(const Call& call) const;
  // kCancelled: the work has ended meanwhile.
  Result<void> pause(std::uint32_t attempts) const;

  const S3Options options_;
  const std::unique_ptr<HttpConnection> connection_;
  bool answered_ = false;  // by the server, ever
};

// The server that requests for a bucket go to.
[[nodiscard]] S3Endpoint server_of(const S3Options& options);

}  // namespace halite::storage::backup
