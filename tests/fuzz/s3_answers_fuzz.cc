// The XML of S3 stores: each parser takes any bytes, and says why it refuses them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/check.h"
#include "storage/tools/backup/s3/s3_answers.h"

namespace halite::storage::backup {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  const auto page = parse_object_page(xml);
  if (!page) HALITE_CHECK(!page.error().message.empty(), "a refusal says why");
  const auto uploads = parse_upload_page(xml);
  if (!uploads) HALITE_CHECK(!uploads.error().message.empty(), "a refusal says why");
  const auto id = parse_upload_id(xml);
  HALITE_CHECK(!id || !id->empty(), "an upload has an id");
  HALITE_CHECK(!page || !uploads, "a document has one root");
  if (is_completed_upload(xml)) HALITE_CHECK(!page && !uploads && !id, "a document has one root");
  const S3Error error = parse_s3_error(xml);
  if (!error.code.empty()) HALITE_CHECK(!page && !uploads && !id, "a document has one root");
  return 0;
}

}  // namespace halite::storage::backup
