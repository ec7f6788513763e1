#include "storage/api/regexps.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

namespace halite::storage {
namespace {

// Of max_mem(), so that a program of the largest size takes all of it: RE2 gives two thirds to the
// program that runs forward, a quarter of which are its instructions of 16 bytes.
constexpr std::size_t kBytesOfInstruction = 96;

}  // namespace

Result<std::shared_ptr<const re2::RE2>> Regexps::compile(const std::string& pattern,
                                                         std::string_view label, Dot dot) const {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(dot == Dot::kAnything);
  options.set_max_mem(static_cast<std::int64_t>(bytes_max_));
  auto regexp = std::make_shared<const re2::RE2>(pattern, options);
  if (regexp->error_code() == re2::RE2::ErrorPatternTooLarge) {
    return fail(Errc::kTooLarge,
                fmt::format("regular expression \"{}\" for {} needs more than {} bytes compiled "
                            "(query.regexp_bytes_max); write it shorter, or raise that setting",
                            pattern, label, bytes_max_));
  }
  if (!regexp->ok()) {
    return fail(Errc::kInvalidArgument, fmt::format("bad regular expression \"{}\" for {}: {}",
                                                    pattern, label, regexp->error()));
  }
  const auto bytes =
      static_cast<std::size_t>(std::max(regexp->ProgramSize(), 0)) * kBytesOfInstruction;
  if (bytes > *left_) {
    return fail(Errc::kTooLarge,
                fmt::format("the regular expressions of the request need more than {} bytes "
                            "compiled ({} times query.regexp_bytes_max); ask for fewer at a time, "
                            "or raise that setting",
                            kTogether * bytes_max_, kTogether));
  }
  *left_ -= bytes;
  return regexp;
}

}  // namespace halite::storage
