#include "app/bulk/server_source.h"

#include <string>
#include <string_view>
#include <utility>

#include "app/bulk/opentsdb_source.h"
#include "app/bulk/promql_sources.h"
#include "app/client/server_answer.h"
#include "common/threads/run_here.h"

namespace halite::app {
namespace {

// Whether the server knows a request. An error if it refuses to say.
Result<bool> takes(const Peer& peer, std::string_view target) {
  TRY(const HttpReply reply,
      run_here(send_http(peer, {.target = std::string(target), .body = {}}, HttpLimits())));
  if (reply.status / 100 == 2) return true;
  constexpr unsigned kUnauthorized = 401;
  constexpr unsigned kForbidden = 403;
  if (reply.status == kUnauthorized || reply.status == kForbidden || reply.status / 100 == 5) {
    return fail(Errc::kUnavailable, answer_text(peer, target, reply));
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<PointSource>> open_server_source(Peer peer,
                                                        std::vector<SourceMatch> matches) {
  const storage::Regexps regexps;
  for (const SourceMatch& match : matches) {
    for (const storage::TagFilter& filter : match.filters) {
      TRY_VOID(storage::TagMatcher::compile(filter, regexps));
    }
  }
  TRY(const bool opentsdb, takes(peer, "/api/suggest?type=metrics&max=1"));
  if (opentsdb) return make_opentsdb_source(std::move(peer), std::move(matches));
  for (const SourceMatch& match : matches) TRY_VOID(promql_selector("", match.filters));
  TRY(const bool victoria,
      takes(peer, "/api/v1/export?start=0&end=1&match[]=%7B__name__%3D%22halite%22%7D"));
  if (victoria) return make_victoria_source(std::move(peer), std::move(matches));
  TRY(const bool prometheus, takes(peer, "/api/v1/status/buildinfo"));
  if (prometheus) return make_prometheus_source(std::move(peer), std::move(matches));
  return fail(Errc::kUnsupported,
              "the server is none of OpenTSDB, Halite, VictoriaMetrics and Prometheus");
}

}  // namespace halite::app
