// Bytes of an HTTP connection: requests are parsed twice, once whole and once in steps whose size
// the first byte tells. Both must see the same requests and the same end. What comes out goes
// through everything that reads it before a handler.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes/utf8.h"
#include "common/check.h"
#include "web/handlers/lookup_query.h"
#include "web/http/charset.h"
#include "web/http/content_coding.h"
#include "web/http/http_parser.h"
#include "web/http/target.h"
#include "web/json/json_in.h"

namespace halite {
namespace {

constexpr web::HttpLimits kLimits{.header_bytes_max = 2'048, .body_bytes_max = 4'096};
constexpr std::size_t kInflatedMax = 16'384;

// What a session would see of the stream.
std::vector<web::Request> requests_of(std::string_view bytes, std::size_t step, int& status) {
  std::vector<web::Request> requests;
  std::string waiting;
  web::HttpParser parser(kLimits);
  while (!bytes.empty() || !waiting.empty()) {
    const std::string_view more = bytes.substr(0, step);
    bytes.remove_prefix(more.size());
    waiting += more;
    const web::HttpParser::Fed fed = parser.feed(waiting);
    HALITE_CHECK(fed.consumed <= waiting.size(), "consumed more than there was");
    waiting.erase(0, fed.consumed);
    if (parser.failure()) {
      status = parser.failure()->status;
      HALITE_CHECK(status != 500, "an assertion of the parser's library failed");
      break;
    }
    if (parser.done()) {
      requests.push_back(parser.take());
      parser = web::HttpParser(kLimits);
    } else if (bytes.empty()) {
      break;
    }
  }
  return requests;
}

void use(const web::Request& request) {
  HALITE_CHECK(request.body.size() <= kLimits.body_bytes_max, "a body over its limit");
  web::Target target;
  const Result<void> parsed = web::parse_target(request.target, true, target);
  if (parsed) (void)web::parse_lookup_uri(target);
  const Result<web::Coding> coding = web::parse_content_encoding(
      request.headers.get("Content-Encoding"), target.endpoint == "prometheus/write");
  if (!coding) return;
  const Result<std::string> body = web::inflate_body(request.body, *coding, kInflatedMax);
  if (!body) return;
  HALITE_CHECK(*coding == web::Coding::kIdentity || body->size() <= kInflatedMax,
               "a body inflated over its limit");
  const Result<web::Charset> charset = web::parse_charset(request.headers.get("Content-Type"));
  if (!charset) return;
  const Result<std::string> text = web::decode_body(*body, *charset, kInflatedMax, "fuzz");
  if (!text) return;
  HALITE_CHECK(charset->library == nullptr || text->size() <= kInflatedMax,
               "a body decoded over its limit");
  HALITE_CHECK(charset->library == nullptr || is_utf8(*text), "a body decoded to what is no UTF-8");
  (void)web::parse_flat_object(*text);
  (void)web::parse_lookup_post(*text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  int whole_status = 0;
  int stepped_status = 0;
  const std::vector<web::Request> whole = requests_of(bytes, SIZE_MAX, whole_status);
  const std::vector<web::Request> stepped = requests_of(bytes, 1 + data[0] % 64, stepped_status);
  HALITE_CHECK(whole.size() == stepped.size(), "steps change how many requests there are");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    HALITE_CHECK(whole[i].method == stepped[i].method, "steps change the method");
    HALITE_CHECK(whole[i].target == stepped[i].target, "steps change the target");
    HALITE_CHECK(whole[i].body == stepped[i].body, "steps change the body");
    use(whole[i]);
  }
  // A header without its end may still be waited for in steps, where the whole is wrong already.
  HALITE_CHECK(whole_status != 0 || stepped_status == 0, "steps make it fail");
  return 0;
}

}  // namespace halite
