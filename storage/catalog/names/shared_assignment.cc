#include "storage/catalog/names/shared_assignment.h"

#include "common/gather.h"

namespace halite::storage {
namespace {

// Concurrent compare-and-puts of one caller.
constexpr std::size_t kAssignsInFlight = 64;

}  // namespace

// The assignment of one name; other callers wait for its result.
struct SharedAssignment::PendingAssignment {
  Completion done;
  Result<UidTable::NameMapping> outcome =  // written before done, read after
      fail(Errc::kCancelled, "the assignment was stopped");
};

// Completes assignments that the owner did not, so that no caller waits for a destroyed coroutine.
class SharedAssignment::CompletionGuard {
 public:
  explicit CompletionGuard(SharedAssignment& owner) : owner_(owner) {}
  CompletionGuard(const CompletionGuard&) = delete;
  ~CompletionGuard() {
    for (auto& [key, flight] : led) owner_.complete(key, *flight);
  }
  std::vector<std::pair<Key, std::shared_ptr<PendingAssignment>>> led;

 private:
  SharedAssignment& owner_;
};

SharedAssignment::SharedAssignment(UidAssigner& ids, Caches& caches, OnAssigned on_assigned)
    : ids_(ids), caches_(caches), on_assigned_(std::move(on_assigned)) {}

SharedAssignment::~SharedAssignment() = default;

void SharedAssignment::complete(const Key& key, PendingAssignment& flight) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(key);
    if (found != pending_.end() && found->second.get() == &flight) pending_.erase(found);
  }
  flight.done.finish({});
}

// Stores the result of one assignment, a value or an error, in `flight`.
Task<SharedAssignment::NameMapping> SharedAssignment::assign_reserved(
    Key key, std::shared_ptr<PendingAssignment> flight, std::uint64_t reserved) {
  const Result<std::uint64_t> uid = co_await ids_.assign(key.first, key.second, reserved);
  if (uid) {
    flight->outcome = *cache(key.first).remember(key.second, *uid);
    if (*uid == reserved) on_assigned_(key.first, *flight->outcome);
  } else {
    flight->outcome = std::unexpected(uid.error());
  }
  co_return flight->outcome;
}

Task<SharedAssignment::NameMapping> SharedAssignment::join(
    Key key, std::shared_ptr<PendingAssignment> flight) {
  const Result<void> completed = co_await flight->done.wait();
  static_cast<void>(completed);  // never fails; the outcome has the error
  if (!flight->outcome && flight->outcome.error().code == Errc::kCancelled) {
    // The leader was cancelled, which must not cancel this caller.
    std::vector<Key> again{key};
    CO_TRY_VOID(co_await assign(std::move(again)));
    const NameMapping* entry = cache(key.first).find(key.second);
    if (entry != nullptr) co_return *entry;
  }
  co_return flight->outcome;
}

Task<void> SharedAssignment::assign(std::vector<Key> names) {
  CompletionGuard guard(*this);
  std::vector<Task<NameMapping>> joined;
  {
    const std::lock_guard lock(mutex_);
    for (const Key& key : names) {
      if (cache(key.first).find(key.second) != nullptr) continue;  // assigned meanwhile
      const auto [at, fresh] = pending_.try_emplace(key);
      if (fresh) {
        at->second = std::make_shared<PendingAssignment>();
        guard.led.emplace_back(key, at->second);
      } else {
        joined.push_back(join(key, at->second));
      }
    }
  }
  Result<void> outcome;
  std::vector<Task<NameMapping>> led;
  for (const NameKind kind : {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue}) {
    std::vector<std::pair<Key, std::shared_ptr<PendingAssignment>>> mine;
    for (const auto& one : guard.led) {
      if (one.first.first == kind) mine.push_back(one);
    }
    if (mine.empty()) continue;
    Result<std::uint64_t> first = co_await ids_.reserve(kind, mine.size());
    if (!first) {
      outcome = std::unexpected(first.error());
      for (const auto& [key, flight] : mine) flight->outcome = std::unexpected(first.error());
      continue;
    }
    std::uint64_t uid = *first;
    for (auto& [key, flight] : mine) {
      led.push_back(assign_reserved(std::move(key), std::move(flight), uid++));
    }
  }
  const std::vector<Result<NameMapping>> own = co_await gather(std::move(led), kAssignsInFlight);
  for (auto& [key, flight] : guard.led) complete(key, *flight);
  guard.led.clear();
  // Waits last: two callers may each wait for a name that the other leads.
  const std::vector<Result<NameMapping>> others =
      co_await gather(std::move(joined), kAssignsInFlight);
  for (const auto* entries : {&own, &others}) {
    for (const Result<NameMapping>& entry : *entries) {
      if (!entry && outcome) outcome = std::unexpected(entry.error());
    }
  }
  co_return outcome;
}

}  // namespace halite::storage
