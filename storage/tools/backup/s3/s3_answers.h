// The XML that S3 stores answer and take.
//
//   Threads  pure functions.
//   Errors   kUnavailable: the text is not the expected document.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/result.h"

namespace halite::storage::backup {

struct S3Error {
  std::string code;      // "NoSuchKey"; empty = the text is no error
  std::string message;   // the server's
  std::string region;    // that the server wants; often empty
  std::string endpoint;  // likewise
};

// An answer with an error may have any body: then all fields are empty.
[[nodiscard]] S3Error parse_s3_error(std::string_view xml);

struct ListedObject {
  std::string key;
  std::uint64_t bytes = 0;
  TimestampMs modified = 0;  // by the server's clock
};

struct ObjectPage {
  std::vector<ListedObject> objects;
  std::string next;  // token of the next page; empty = this is the last
};

// The answer of ListObjectsV2.
[[nodiscard]] Result<ObjectPage> parse_object_page(std::string_view xml);

struct UnfinishedUpload {
  std::string key;
  std::string id;
};

struct UploadPage {
  std::vector<UnfinishedUpload> uploads;
  bool more = false;
  UnfinishedUpload next;  // markers of the next page
};

// The answer of ListMultipartUploads.
[[nodiscard]] Result<UploadPage> parse_upload_page(std::string_view xml);

// The id in the answer of CreateMultipartUpload.
[[nodiscard]] Result<std::string> parse_upload_id(std::string_view xml);

// Whether the answer of CompleteMultipartUpload, which may be an error with the status 200, is a
// result.
[[nodiscard]] bool is_completed_upload(std::string_view xml);

// The body of CompleteMultipartUpload. ETags in the order of the parts.
[[nodiscard]] std::string completion_xml(const std::vector<std::string>& etags);

}  // namespace halite::storage::backup
