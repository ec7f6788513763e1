#include "storage/catalog/series_names.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "common/bytes/bytes.h"
#include "storage/cells/layouts/tsuid.h"

namespace halite::storage {
namespace {

constexpr std::uint32_t kKeysTogether = 4096;
constexpr std::size_t kNamedTogether = 4096;

// A uid in a set that is at most half full, and its place in a list.
constexpr std::int64_t kUidBytes = 3 * sizeof(std::uint64_t);

// The uids of the wanted names. Counts their memory.
class WantedUids {
 public:
  // `key_uid` of the values; not used for other kinds.
  WantedUids(UidWidths widths, NameKind kind, std::uint64_t key_uid, const ReadContext& context)
      : widths_(widths), kind_(kind), context_(context) {
    append_be_width(key_, key_uid, widths.tag_key);
  }

  // Its name is known.
  Result<void> skip(std::uint64_t uid) {
    if (!seen_.insert(uid).second || context_.budget == nullptr) return {};
    return context_.budget->add_bytes(kUidBytes);
  }

  Result<void> add(std::uint64_t uid) {
    if (seen_.contains(uid)) return {};
    unnamed_.push_back(uid);
    return skip(uid);
  }

  Result<void> add_tsuid(BytesView tsuid) {
    if (!is_tsuid_length(widths_, tsuid.size())) return {};  // not a series
    if (kind_ == NameKind::kMetric) return add(load_be_width(tsuid.substr(0, widths_.metric)));
    for (tsuid.remove_prefix(widths_.metric); !tsuid.empty();
         tsuid.remove_prefix(widths_.tag_key + widths_.tag_value)) {
      const BytesView key = tsuid.substr(0, widths_.tag_key);
      if (kind_ == NameKind::kTagKey) {
        TRY_VOID(add(load_be_width(key)));
      } else if (key == key_) {
        return add(load_be_width(tsuid.substr(widths_.tag_key, widths_.tag_value)));
      }
    }
    return {};
  }

  [[nodiscard]] const std::vector<std::uint64_t>& unnamed() const { return unnamed_; }

 private:
  const UidWidths widths_;
  const NameKind kind_;
  const ReadContext& context_;
  Bytes key_;
  boost::unordered_flat_set<std::uint64_t> seen_;
  std::vector<std::uint64_t> unnamed_;
};

// What the table knows. The texts of values are there, too.
Result<void> look_into_table(const SeriesTable& table, NameKind kind, std::uint64_t key_uid,
                             WantedUids& uids, const NameUse& use) {
  if (kind == NameKind::kTagValue) {
    for (const SeriesTag* const tag : table.tags().values_of(key_uid)) {
      TRY_VOID(uids.skip(tag->value_uid));
      TRY_VOID(use(tag->value));
    }
    return {};
  }
  const std::vector<std::uint64_t> found =
      kind == NameKind::kMetric ? table.metric_uids() : table.tags().key_uids();
  for (const std::uint64_t uid : found) TRY_VOID(uids.add(uid));
  return {};
}

Task<void> read_rows(const SeriesRegistry* registry, const ReadContext* context, WantedUids* uids) {
  const auto executor = co_await boost::asio::this_coro::executor;
  const std::unique_ptr<Scanner> rows = registry->scan_series(*context);
  while (true) {
    CO_TRY_VOID(context->check());
    auto reading = rows->next({.rows_max = kKeysTogether});
    CO_TRY(const std::vector<Row> some, co_await std::move(reading));
    if (some.empty()) co_return Result<void>();
    for (const Row& row : some) CO_TRY_VOID(uids->add_tsuid(row.key));
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
  }
}

Task<void> pass_names(SeriesRegistry* registry, NameKind kind, const ReadContext* context,
                      const std::vector<std::uint64_t>* uids, const NameUse* use) {
  std::vector<UidTable::UidRequest> asked;
  for (std::size_t i = 0; i < uids->size(); ++i) {
    asked.push_back({kind, (*uids)[i]});
    if (asked.size() < kNamedTogether && i + 1 < uids->size()) continue;
    CO_TRY_VOID(context->check());
    auto naming = registry->uids().names_of(std::exchange(asked, {}));
    CO_TRY(const auto names, co_await std::move(naming));
    for (const Result<UidTable::NameMapping>& name : names) {
      if (name) CO_TRY_VOID((*use)(name->name));  // otherwise it was removed meanwhile
    }
  }
  co_return Result<void>();
}

}  // namespace

Task<void> list_series_names(SeriesRegistry* registry, UidWidths widths, SeriesNamesQuery query,
                             ReadContext context, NameUse use) {
  const std::shared_ptr<const SeriesPin> pin = registry->table().pin();
  std::uint64_t key_uid = 0;
  if (query.kind == NameKind::kTagValue) {
    auto finding = registry->uids().find(NameKind::kTagKey, std::move(query.key));
    const Result<UidTable::NameMapping> found = co_await std::move(finding);
    const bool unknown = !found && (found.error().code == Errc::kNotFound ||
                                    found.error().code == Errc::kInvalidArgument);
    if (unknown) co_return Result<void>();  // no series has such a key
    if (!found) co_return std::unexpected(found.error());
    key_uid = found->uid;
  }
  WantedUids uids(widths, query.kind, key_uid, context);
  CO_TRY_VOID(look_into_table(registry->table(), query.kind, key_uid, uids, use));
  // Asked after the look: what was unloaded meanwhile raises it.
  if (registry->loader().all_since() > query.since) {
    auto reading = read_rows(registry, &context, &uids);
    CO_TRY_VOID(co_await std::move(reading));
  }
  auto naming = pass_names(registry, query.kind, &context, &uids.unnamed(), &use);
  co_return co_await std::move(naming);
}

}  // namespace halite::storage
