#include "storage/backends/hbase/client/bulk_load_call.h"

#include <optional>
#include <utility>

#include "storage/backends/hbase/client/admin_call.h"
#include "storage/backends/hbase/messages/region.h"
#include "storage/backends/hbase/messages/table_message.h"
#include "storage/backends/hbase/proto/bulk_load.pb.h"

namespace halite::storage::hbase {
namespace {

// At the server that has the region, as far as is known.
template <class Request>
RemoteTask<Reply> call_at(ClientContextPtr context, RegionPtr region, const char* method,
                          Request request, std::uint32_t timeout_ms) {
  set_region(*request.mutable_region(), region->name);
  Call call{.method = method,
            .message = request.SerializeAsString(),
            .cellblock = {},
            .timeout_ms = timeout_ms,
            .priority = {}};
  RemoteTask<Reply> calling =
      context->servers.call(region->server, kClientService, std::move(call));
  Outcome<Reply> reply = co_await std::move(calling);
  if (!reply) context->locator.learn(region, reply.error());
  co_return reply;
}

// Until there is an answer; any region of the table can give it.
template <class Request>
Task<Reply> call_first_region(ClientContextPtr context, std::string table, const char* method,
                              Request request) {
  Retry retry(context, context->options.operation_ms_max, Subject::kTables);
  for (;;) {
    RemoteTask<RegionPtr> locating = context->locator.locate(table, Bytes());
    const Outcome<RegionPtr> region = co_await std::move(locating);
    std::optional<Fault> fault;
    if (region) {
      RemoteTask<Reply> calling = call_at(context, *region, method, request, retry.call_ms());
      Outcome<Reply> reply = co_await std::move(calling);
      if (reply) co_return *std::move(reply);
      fault = std::move(reply).error();
    } else {
      fault = region.error();
    }
    Task<void> pausing = retry.after(*fault);
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

}  // namespace

Task<std::vector<KeyRange>> region_ranges(ClientContextPtr context, std::string table) {
  Retry retry(context, context->options.operation_ms_max, Subject::kTables);
  for (;;) {
    RemoteTask<std::vector<RegionPtr>> asking = context->locator.all(table);
    const Outcome<std::vector<RegionPtr>> regions = co_await std::move(asking);
    if (regions) {
      std::vector<KeyRange> ranges;
      for (const RegionPtr& region : *regions) ranges.push_back({region->begin, region->end});
      co_return ranges;
    }
    Task<void> pausing = retry.after(regions.error());
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

Task<std::string> begin_bulk_load(ClientContextPtr context, std::string table) {
  pb::PrepareBulkLoadRequest request;
  *request.mutable_table_name() = table_name(table);
  Task<Reply> calling =
      call_first_region(context, std::move(table), "PrepareBulkLoad", std::move(request));
  CO_TRY(const Reply reply, co_await std::move(calling));
  CO_TRY(const auto response, read_message<pb::PrepareBulkLoadResponse>(reply));
  if (response.bulk_token().empty()) {
    co_return fail(Errc::kInternal, "HBase named no directory for a bulk load");
  }
  co_return response.bulk_token();
}

Task<void> end_bulk_load(ClientContextPtr context, std::string table, std::string staging) {
  pb::CleanupBulkLoadRequest request;
  request.set_bulk_token(std::move(staging));
  Task<Reply> calling =
      call_first_region(context, std::move(table), "CleanupBulkLoad", std::move(request));
  CO_TRY_VOID(co_await std::move(calling));
  co_return Result<void>();
}

Task<BulkLoadAnswer> bulk_load(ClientContextPtr context, BulkLoadCall call) {
  pb::BulkLoadHFileRequest request;
  for (const BulkLoadFile& file : call.files) {
    pb::BulkLoadHFileRequest::FamilyPath& path = *request.add_family_path();
    path.set_family(file.family);
    path.set_path(file.path);
  }
  request.set_assign_seq_num(true);
  request.set_bulk_token(call.staging);
  Retry retry(context, context->options.operation_ms_max, Subject::kTables);
  for (;;) {
    RemoteTask<RegionPtr> locating = context->locator.locate(call.table, call.first_row);
    const Outcome<RegionPtr> region = co_await std::move(locating);
    if (!region) {
      Task<void> pausing = retry.after(region.error());
      CO_TRY_VOID(co_await std::move(pausing));
      continue;
    }
    const std::string server = to_text((*region)->server);
    if (!(*region)->holds(call.last_row)) {
      co_return BulkLoadAnswer{BulkLoadOutcome::kSeveralRegions, server};
    }
    RemoteTask<Reply> calling =
        call_at(context, *region, "BulkLoadHFile", request, retry.call_ms());
    const Outcome<Reply> reply = co_await std::move(calling);
    if (reply) {
      CO_TRY(const auto response, read_message<pb::BulkLoadHFileResponse>(*reply));
      const bool loaded = response.loaded();
      co_return BulkLoadAnswer{loaded ? BulkLoadOutcome::kLoaded : BulkLoadOutcome::kRefused,
                               server};
    }
    if (reply.error().maybe_done) co_return BulkLoadAnswer{BulkLoadOutcome::kUnknown, server};
    Task<void> pausing = retry.after(reply.error());
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

}  // namespace halite::storage::hbase
