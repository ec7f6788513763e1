// POST /api/incr: adds to counters (docs/send-data/counters.md).
//
// Body        as /api/put; "value" is the increment, a whole number
// Header      Idempotency-Key: 1 to 128 bytes. The same request with the same key adds nothing for
//             ten minutes after the first
// Parameters  as /api/put
// Answer      as /api/put
// Errors      as /api/put; a metric that has points, a value with a fraction and a sum over 64 bits
//             refuse only their increment; 400 the key is empty or too long
#include <fmt/format.h>

#include "ingest/writer.h"
#include "web/handlers/handlers.h"
#include "web/handlers/put_answer.h"

namespace halite::web {
namespace {

constexpr std::string_view kKeyHeader = "Idempotency-Key";
constexpr std::size_t kKeyBytesMax = 128;

Result<Bytes> key_of(const Call& call) {
  if (!call.request.headers.has(kKeyHeader)) return Bytes();
  const std::string_view key = call.request.headers.get(kKeyHeader);
  if (!key.empty() && key.size() <= kKeyBytesMax) return Bytes(key);
  return fail(Errc::kInvalidArgument, fmt::format("{} must have 1 to {} bytes, not {}", kKeyHeader,
                                                  kKeyBytesMax, key.size()));
}

}  // namespace

boost::asio::awaitable<Response> handle_incr(Call& call) {
  Result<ingest::PutOptions> put_options = parse_put_options(call.target);
  if (!put_options) co_return mistake_response(call, put_options.error());
  Result<Bytes> key = key_of(call);
  if (!key) co_return mistake_response(call, key.error());
  put_options->once = *std::move(key);
  auto adding = call.services.increments.put_json(std::move(call.request.body), *put_options);
  const Result<ingest::PutOutcome> added = co_await std::move(adding);
  co_return put_answer(call, *put_options, added);
}

}  // namespace halite::web
