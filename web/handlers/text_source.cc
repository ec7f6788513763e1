#include "web/handlers/text_source.h"

#include "common/log.h"

namespace halite::web {
namespace {

// Compressed and framed at once.
constexpr std::size_t kPieceBytes = 256 << 10;

}  // namespace

Task<bool> TextSource::next(std::string& to) {
  auto reading = read();
  const Result<void> done = co_await std::move(reading);
  if (!done) {
    log::warn("{} ended early: {}", what_, done.error().message);
    co_return std::unexpected(done.error());
  }
  if (is_sent()) co_return false;
  const std::string_view piece = std::string_view(text_).substr(sent_, kPieceBytes);
  to += piece;
  sent_ += piece.size();
  co_return true;
}

}  // namespace halite::web
