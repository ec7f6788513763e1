#include "storage/catalog/names/shared_assignment.h"

#include "common/gather.h"

namespace halite::storage {
namespace {

// Compare-and-puts under way at once for one caller.
constexpr std::size_t kAssignsInFlight = 64;

}  // namespace

// One name being given its id; those who ask meanwhile wait for the same outcome.
struct SharedAssignment::Flight {
  Completion done;
  Result<UidTable::Entry> outcome =  // written before done, read after
      fail(Errc::kCancelled, "the assignment was stopped");
};

// Lands what its owner did not, so that nobody waits for a coroutine that was thrown away.
class SharedAssignment::LandingGuard {
 public:
  explicit LandingGuard(SharedAssignment& owner) : owner_(owner) {}
  LandingGuard(const LandingGuard&) = delete;
  LandingGuard& operator=(const LandingGuard&) = delete;
  ~LandingGuard() {
    for (auto& [key, flight] : led) owner_.land(key, *flight);
  }
  std::vector<std::pair<Key, std::shared_ptr<Flight>>> led;

 private:
  SharedAssignment& owner_;
};

SharedAssignment::SharedAssignment(UidAssigner& ids, Caches& caches, Told told)
    : ids_(ids), caches_(caches), told_(std::move(told)) {}

SharedAssignment::~SharedAssignment() = default;

void SharedAssignment::land(const Key& key, Flight& flight) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(key);
    if (found != flights_.end() && found->second.get() == &flight) flights_.erase(found);
  }
  flight.done.finish({});
}

// What one name's assignment yields goes into its flight, good or bad.
Task<SharedAssignment::Entry> SharedAssignment::assign_reserved(Key key,
                                                                std::shared_ptr<Flight> flight,
                                                                std::uint64_t reserved) {
  const Result<std::uint64_t> uid = co_await ids_.assign(key.first, key.second, reserved);
  if (uid) {
    flight->outcome = *cache(key.first).remember(key.second, *uid);
    if (*uid == reserved) told_(key.first, *flight->outcome);
  } else {
    flight->outcome = std::unexpected(uid.error());
  }
  co_return flight->outcome;
}

Task<SharedAssignment::Entry> SharedAssignment::join(Key key, std::shared_ptr<Flight> flight) {
  const Result<void> landed = co_await flight->done.wait();
  static_cast<void>(landed);  // always good: the outcome tells
  if (!flight->outcome && flight->outcome.error().code == Errc::kCancelled) {
    // Whoever led was stopped; that is no reason for us to stop.
    std::vector<Key> again{key};
    CO_TRY_VOID(co_await assign(std::move(again)));
    const Entry* entry = cache(key.first).find(key.second);
    if (entry != nullptr) co_return *entry;
  }
  co_return flight->outcome;
}

Task<void> SharedAssignment::assign(std::vector<Key> names) {
  LandingGuard guard(*this);
  std::vector<Task<Entry>> joined;
  {
    const std::lock_guard lock(mutex_);
    for (const Key& key : names) {
      if (cache(key.first).find(key.second) != nullptr) continue;  // landed a moment ago
      const auto [at, fresh] = flights_.try_emplace(key);
      if (fresh) {
        at->second = std::make_shared<Flight>();
        guard.led.emplace_back(key, at->second);
      } else {
        joined.push_back(join(key, at->second));
      }
    }
  }
  Result<void> outcome;
  std::vector<Task<Entry>> led;
  for (const NameKind kind : {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue}) {
    std::vector<std::pair<Key, std::shared_ptr<Flight>>> mine;
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
  const std::vector<Result<Entry>> own = co_await gather(std::move(led), kAssignsInFlight);
  for (auto& [key, flight] : guard.led) land(key, *flight);
  guard.led.clear();
  // Only now: two callers may each wait for a name that the other leads.
  const std::vector<Result<Entry>> others = co_await gather(std::move(joined), kAssignsInFlight);
  for (const auto* entries : {&own, &others}) {
    for (const Result<Entry>& entry : *entries) {
      if (!entry && outcome) outcome = std::unexpected(entry.error());
    }
  }
  co_return outcome;
}

}  // namespace halite::storage
