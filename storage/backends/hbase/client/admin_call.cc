#include "storage/backends/hbase/client/admin_call.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/hbase/proto/admin.pb.h"

namespace halite::storage::hbase {

namespace {

constexpr std::uint32_t kPollMsMin = 50;
constexpr std::uint32_t kPollMsMax = 250;

RemoteTask<Reply> attempt_master(ClientContextPtr context, const char* method, Bytes message,
                                 std::uint32_t timeout_ms) {
  RemoteTask<Endpoint> finding = context->locator.master();
  Outcome<Endpoint> master = co_await std::move(finding);
  if (!master) co_return std::unexpected(std::move(master).error());
  Call call{.method = method,
            .message = std::move(message),
            .cellblock = {},
            .timeout_ms = timeout_ms,
            .priority = {}};
  RemoteTask<Reply> calling = context->servers.call(*master, kMasterService, std::move(call));
  co_return co_await std::move(calling);
}

Result<void> procedure_outcome(const pb::GetProcedureResultResponse& response) {
  if (!response.has_exception()) return {};
  const pb::GenericExceptionMessage& told = response.exception().generic_exception();
  RemoteException exception =
      exception_from_text(told.class_name(), told.class_name() + ": " + told.message());
  exception.do_not_retry = true;  // the procedure failed for good
  return std::unexpected(classify(exception, "HBase's master").error);
}

}  // namespace

Task<Reply> call_master(ClientContextPtr context, const char* method, Bytes message) {
  Retry retry(context, context->options.operation_ms_max, Subject::kTables);
  for (;;) {
    RemoteTask<Reply> trying = attempt_master(context, method, message, retry.call_ms());
    Outcome<Reply> reply = co_await std::move(trying);
    if (reply) co_return *std::move(reply);
    Task<void> pausing = retry.after(reply.error());
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

Task<void> run_procedure(ClientContextPtr context, const char* method, Bytes message) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(context->options.procedure_ms_max);
  Task<Reply> beginning = call_master(context, method, std::move(message));
  CO_TRY(const Reply begun, co_await std::move(beginning));
  CO_TRY(const auto procedure, read_message<pb::ProcedureResponse>(begun));
  pb::GetProcedureResultRequest question;
  question.set_proc_id(procedure.proc_id());
  const Bytes asks = question.SerializeAsString();
  for (std::uint32_t pause = kPollMsMin;; pause = std::min(pause * 2, kPollMsMax)) {
    Task<Reply> asking = call_master(context, "getProcedureResult", asks);
    CO_TRY(const Reply reply, co_await std::move(asking));
    CO_TRY(const auto state, read_message<pb::GetProcedureResultResponse>(reply));
    if (state.state() == pb::GetProcedureResultResponse::FINISHED) {
      co_return procedure_outcome(state);
    }
    if (state.state() == pb::GetProcedureResultResponse::NOT_FOUND) {
      co_return fail(Errc::kUnavailable,
                     fmt::format("HBase's master no longer knows how its {} ended", method));
    }
    if (Clock::now() >= deadline) {
      co_return fail(Errc::kTimeout,
                     fmt::format("HBase's master has not finished its {} after {} ms", method,
                                 context->options.procedure_ms_max));
    }
    Task<void> pausing = context->pauses->pause(pause);
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

RemoteTask<Reply> call_region_server(ClientContextPtr context, Endpoint server, const char* method,
                                     Bytes message, std::uint32_t timeout_ms) {
  Call call{.method = method,
            .message = std::move(message),
            .cellblock = {},
            .timeout_ms = timeout_ms,
            .priority = {}};
  RemoteTask<Reply> calling =
      context->servers.call(std::move(server), kAdminService, std::move(call));
  co_return co_await std::move(calling);
}

}  // namespace halite::storage::hbase
