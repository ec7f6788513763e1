// `halite compare`: sends queries to two servers and reports where the answers differ.
//
// For a migration from OpenTSDB to Halite on one set of tables, or with one set of agents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "app/client/http_client.h"
#include "app/compare/answers.h"
#include "app/tools/print.h"
#include "common/clock.h"

namespace halite::app {

struct CompareOptions {
  std::string opentsdb;          // URL
  std::string halite;            // URL
  PeerFiles files;               // the token is for halite, role read
  std::string queries;           // a file; "-" = standard input
  std::size_t queries_max = 0;   // 0 = all
  std::int64_t lag_ms = 60'000;  // how far "now" lies back, to skip points that still arrive
  std::size_t file_bytes_max = 1U << 30;
  CompareRules rules;
  HttpLimits http;
};

// The outcome, as the process's exit status.
enum class CompareStatus : std::uint8_t {
  kSame = 0,
  kDifferent = 1,  // or only one of them failed
  kNotAsked = 2,   // bad URLs, an unreadable file, no query in it, no server, no answer to compare
};

// Writes the report to `out` line by line, and its own errors to `err`.
[[nodiscard]] CompareStatus compare(const CompareOptions& options, const Clock& clock,
                                    const Print& out, const Print& err);

}  // namespace halite::app
