#include "app/compare/compare.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/compare/compare_queries.h"
#include "common/gather.h"
#include "common/threads/run_here.h"

namespace halite::app {

namespace {

constexpr std::size_t kBodyShown = 300;  // bytes shown of an answer without points
constexpr std::size_t kBadLinesShown = 10;

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return fail(Errc::kNotFound, fmt::format("cannot read {}", path));
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  std::vector<char> piece(1 << 16);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > bytes_max) {
      return fail(Errc::kTooLarge, fmt::format("{} has more than {} bytes", path, bytes_max));
    }
  }
  if (in.bad()) return fail(Errc::kUnavailable, fmt::format("cannot read {}", path));
  return text;
}

struct Times {
  std::vector<std::uint32_t> took_ms;

  [[nodiscard]] std::string text() {
    if (took_ms.empty()) return "none";
    std::ranges::sort(took_ms);
    return fmt::format("{} ms (slowest {} ms)", took_ms[took_ms.size() / 2], took_ms.back());
  }
};

class Run {
 public:
  Run(const CompareOptions& options, Peer opentsdb, Peer halite, TimestampMs now, const Print& out)
      : options_(options),
        opentsdb_(std::move(opentsdb)),
        halite_(std::move(halite)),
        now_(now),
        out_(out) {}

  void ask(const CompareQuery& asked) {
    CompareQuery question = pinned(asked, now_);
    const auto replies = run_here(
        ask_both({.target = std::move(question.target), .body = std::move(question.body)}));
    if (!replies) return tell(asked, {replies.error().message}, failed_);
    const Result<HttpReply>& theirs = replies->at(0);
    const Result<HttpReply>& ours = replies->at(1);
    if (!theirs || !ours) {
      std::vector<std::string> lines;
      if (!theirs) lines.push_back("opentsdb: " + theirs.error().message);
      if (!ours) lines.push_back("halite: " + ours.error().message);
      return tell(asked, lines, failed_);
    }
    opentsdb_times_.took_ms.push_back(theirs->took_ms);
    halite_times_.took_ms.push_back(ours->took_ms);
    judge(asked, *theirs, *ours);
  }

  CompareStatus finish(const CompareQueries& file) {
    const std::size_t asked = same_ + refused_ + different_ + failed_;
    out_(fmt::format("{} {}: {} match, {} refused by both, {} differ, {} not answered", asked,
                     asked == 1 ? "query" : "queries", same_, refused_, different_, failed_));
    if (file.posts + file.other > 0) {
      out_(fmt::format("skipped lines of the access log: {} POST without a body, {} others",
                       file.posts, file.other));
    }
    if (!file.bad.empty()) out_(counted(file.bad.size(), "line") + " not understood");
    out_(fmt::format("median answer time: opentsdb {}, halite {}", opentsdb_times_.text(),
                     halite_times_.text()));
    if (same_ + different_ == 0) return CompareStatus::kNotAsked;
    return different_ + failed_ == 0 ? CompareStatus::kSame : CompareStatus::kDifferent;
  }

 private:
  // Concurrently, so that both see the same points.
  Task<std::vector<Result<HttpReply>>> ask_both(HttpRequest question) {
    std::vector<Task<HttpReply>> both;
    both.push_back(send_http(opentsdb_, question, options_.http));
    both.push_back(send_http(halite_, std::move(question), options_.http));
    auto asking = gather(std::move(both), 2);
    co_return co_await std::move(asking);
  }

  void judge(const CompareQuery& asked, const HttpReply& theirs, const HttpReply& ours) {
    constexpr unsigned kOk = 200;
    constexpr unsigned kRefusedAtMost = 500;  // OpenTSDB also returns it for invalid queries
    if (theirs.status != kOk && theirs.status == ours.status) {
      if (theirs.status <= kRefusedAtMost) {
        ++refused_;
        return;
      }
      return tell(asked,
                  {fmt::format("opentsdb: {} {}", theirs.status, theirs.body.substr(0, kBodyShown)),
                   fmt::format("halite: {} {}", ours.status, ours.body.substr(0, kBodyShown))},
                  failed_);
    }
    if (theirs.status != ours.status) {
      const auto said = [](const HttpReply& reply) {
        return reply.status == kOk ? std::string("its answer") : reply.body.substr(0, kBodyShown);
      };
      return tell(asked,
                  {fmt::format("opentsdb: {} {}", theirs.status, said(theirs)),
                   fmt::format("halite: {} {}", ours.status, said(ours))},
                  different_);
    }
    const auto lines = differences(theirs.body, ours.body, options_.rules);
    if (!lines) return tell(asked, {lines.error().message}, failed_);
    if (!lines->empty()) return tell(asked, *lines, different_);
    ++same_;
  }

  void tell(const CompareQuery& asked, const std::vector<std::string>& lines, std::size_t& count) {
    ++count;
    const std::string often = asked.times == 1 ? "" : fmt::format(" ({} times)", asked.times);
    out_(fmt::format("line {}{}: {}{}{}", asked.line, often, asked.target,
                     asked.body.empty() ? "" : " ", asked.body));
    for (const std::string& line : lines) out_("  " + line);
  }

  const CompareOptions& options_;
  const Peer opentsdb_;
  const Peer halite_;
  const TimestampMs now_;
  const Print& out_;
  Times opentsdb_times_;
  Times halite_times_;
  std::size_t same_ = 0;
  std::size_t refused_ = 0;
  std::size_t different_ = 0;
  std::size_t failed_ = 0;
};

// Reads the file. Reports lines without a query to `err`; returns errors that prevent the run.
Result<CompareQueries> read_queries(const CompareOptions& options, const Print& err) {
  TRY(const std::string text, read_file(options.queries, options.file_bytes_max));
  CompareQueries file = read_compare_queries(text);
  for (std::size_t i = 0; i < file.bad.size(); ++i) {
    if (i == kBadLinesShown) {
      err(fmt::format("and {} more lines", file.bad.size() - i));
      break;
    }
    err(fmt::format("{}:{}: {}", options.queries, file.bad[i].line, file.bad[i].why));
  }
  if (file.queries.empty()) {
    return fail(Errc::kNotFound, fmt::format("{} contains no query", options.queries));
  }
  return file;
}

}  // namespace

CompareStatus compare(const CompareOptions& options, const Clock& clock, const Print& out,
                      const Print& err) {
  const auto opentsdb = make_peer(options.opentsdb, {.token = {}, .ca = options.files.ca});
  const auto halite = make_peer(options.halite, options.files);
  for (const auto* peer : {&opentsdb, &halite}) {
    if (*peer) continue;
    err(peer->error().message);
    return CompareStatus::kNotAsked;
  }
  const auto file = read_queries(options, err);
  if (!file) {
    err(file.error().message);
    return CompareStatus::kNotAsked;
  }
  Run run(options, *opentsdb, *halite, clock.now_ms() - options.lag_ms, out);
  std::size_t asked = 0;
  for (const CompareQuery& query : file->queries) {
    if (options.queries_max != 0 && asked++ == options.queries_max) break;
    run.ask(query);
  }
  return run.finish(*file);
}

}  // namespace halite::app
