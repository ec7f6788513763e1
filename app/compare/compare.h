// halite compare: asks two servers the same questions and tells where their answers differ.
//
// For whoever is about to move from OpenTSDB to Halite on the same tables, or with the same agents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "app/client/http_client.h"
#include "app/compare/answers.h"
#include "app/print.h"
#include "common/clock.h"

namespace halite::app {

struct CompareOptions {
  std::string opentsdb;          // URL
  std::string halite;            // URL
  PeerFiles files;               // the token is for halite, and may read
  std::string queries;           // a file; "-" = standard input
  std::size_t queries_max = 0;   // 0 = all
  std::int64_t lag_ms = 60'000;  // "now" is so long ago: what still arrives is not asked for
  std::size_t file_bytes_max = 1U << 30;
  CompareRules rules;
  HttpLimits http;
};

// How it ended, as the process's exit status.
enum class CompareStatus : std::uint8_t {
  kSame = 0,
  kDifferent = 1,  // or one of them failed where the other answered
  kNotAsked = 2,   // bad URLs, an unreadable file, no query in it, no server, no answer to compare
};

// Reports to `out` line by line, troubles of the run itself to `err`.
[[nodiscard]] CompareStatus compare(const CompareOptions& options, const Clock& clock,
                                    const Print& out, const Print& err);

}  // namespace halite::app
