// The branches of trees, their leaves, and the series without a place.
#include <utility>

#include <fmt/format.h>

#include "storage/cells/layouts/tsuid.h"
#include "storage/meta/objects/merge_put.h"
#include "storage/meta/trees/tree_cells.h"
#include "storage/meta/trees/tree_store.h"

namespace halite::storage {
namespace {

using tree_cells::check_id;
using tree_cells::column;
using tree_cells::damaged;
using tree_cells::kFamily;

constexpr std::size_t kHashBytes = 4;
constexpr std::uint32_t kKeysAtOnce = 64;

Column failure_column(TreeStore::Failure kind, BytesView tsuid) {
  const bool collision = kind == TreeStore::Failure::kCollision;
  return column(Bytes(collision ? tree_cells::kCollisionPrefix : tree_cells::kNotMatchedPrefix) +
                Bytes(tsuid));
}

Bytes failure_row(TreeStore::Failure kind, std::int32_t tree) {
  Bytes row = tree_row(tree);
  row += kind == TreeStore::Failure::kCollision ? '\x01' : '\x02';
  return row;
}

}  // namespace

// Skips deeper branches: seeks from each child to the end of its rows.
Task<std::vector<Bytes>> TreeStore::child_keys(Bytes id) {
  std::vector<Bytes> children;
  Bytes from = id + Bytes(1, '\0');
  const Bytes end = prefix_end(id);
  while (!from.empty() && (end.empty() || from < end)) {
    ScanSpec spec;
    spec.family = kFamily;
    spec.ranges.push_back(KeyRange{from, end});
    spec.keys_only = true;
    const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
    ScanLimit limit;
    limit.rows_max = kKeysAtOnce;
    bool jump = false;
    while (!jump) {
      CO_TRY(std::vector<Row> rows, co_await scanner->next(limit));
      if (rows.empty()) co_return std::move(children);
      for (Row& row : rows) {
        if (row.key.size() == id.size() + kHashBytes) {
          if (children.size() >= options_.answer_max) {
            co_return fail(Errc::kTooLarge,
                           fmt::format("branch {} has more than {} branches; raise "
                                       "meta.tree_answer_max",
                                       to_hex(id), options_.answer_max));
          }
          children.push_back(std::move(row.key));
        } else if (row.key.size() > id.size() + kHashBytes) {
          from = prefix_end(BytesView(row.key).substr(0, id.size() + kHashBytes));
          jump = true;
          break;
        }
      }
    }
  }
  co_return std::move(children);
}

Task<void> TreeStore::name_leaves(TreeBranch& branch) {
  const std::shared_ptr<const SeriesPin> pin = uids_.pin();
  std::vector<TreeLeaf> named;
  for (TreeLeaf& leaf : branch.leaves) {
    const Result<Bytes> tsuid = from_hex(leaf.tsuid);
    if (!tsuid) continue;
    const Result<SeriesUids> uids = parse_tsuid(widths_, *tsuid);
    if (!uids) continue;
    std::vector<UidTable::UidRequest> requests{{NameKind::kMetric, uids->metric}};
    for (const UidPair& pair : uids->pairs) {
      requests.push_back({NameKind::kTagKey, pair.key});
      requests.push_back({NameKind::kTagValue, pair.value});
    }
    CO_TRY(const auto names, co_await uids_.names_of(std::move(requests)));
    leaf.tags.emplace();
    bool complete = names.front().has_value();
    if (complete) leaf.metric = names.front()->name;
    for (std::size_t i = 1; i + 1 < names.size() && complete; i += 2) {
      complete = names[i] && names[i + 1];
      if (complete) leaf.tags->emplace(names[i]->name, names[i + 1]->name);
    }
    if (complete) named.push_back(std::move(leaf));
  }
  branch.leaves = std::move(named);
  co_return Result<void>();
}

Task<std::optional<TreeBranch>> TreeStore::branch(Bytes id) {
  auto reading = read_row(id, {});
  CO_TRY(const std::vector<Row> rows, co_await std::move(reading));
  std::optional<TreeBranch> branch;
  std::vector<TreeLeaf> leaves;
  for (const Cell& cell : rows.front().cells) {
    if (cell.qualifier == tree_cells::kBranch) {
      Result<TreeBranch> stored = parse_stored_branch(cell.value);
      if (!stored) co_return damaged(id, cell.qualifier, stored.error());
      branch = std::move(*stored);
    } else if (cell.qualifier.starts_with(tree_cells::kLeafPrefix)) {
      Result<TreeLeaf> leaf = parse_stored_leaf(cell.value);
      if (!leaf) co_return damaged(id, cell.qualifier, leaf.error());
      leaves.push_back(std::move(*leaf));
    }
  }
  if (!branch) co_return std::nullopt;
  if (leaves.size() > options_.answer_max) {
    co_return fail(Errc::kTooLarge,
                   fmt::format("branch {} has more than {} leaves; raise meta.tree_answer_max",
                               to_hex(id), options_.answer_max));
  }
  branch->tree_id = load_be<std::uint16_t>(id.data());
  branch->leaves = std::move(leaves);
  CO_TRY_VOID(co_await name_leaves(*branch));
  CO_TRY(const std::vector<Bytes> keys, co_await child_keys(id));
  std::vector<RowRead> reads;
  for (const Bytes& key : keys)
    reads.push_back(RowRead{key, kFamily, {Bytes(tree_cells::kBranch)}});
  CO_TRY(const std::vector<Row> children, co_await table_->read(std::move(reads)));
  for (const Row& row : children) {
    if (row.cells.empty()) continue;
    Result<TreeBranch> child = parse_stored_branch(row.cells.front().value);
    if (!child) co_return damaged(row.key, tree_cells::kBranch, child.error());
    child->tree_id = branch->tree_id;
    branch->branches.push_back(std::make_shared<TreeBranch>(std::move(*child)));
  }
  co_return std::move(branch);
}

Task<std::map<std::string, std::string>> TreeStore::failures(Failure kind, std::int32_t tree,
                                                             std::vector<Bytes> tsuids) {
  CO_TRY_VOID(check_id(tree));
  std::vector<Bytes> qualifiers;
  for (const Bytes& tsuid : tsuids) qualifiers.push_back(failure_column(kind, tsuid).qualifier);
  auto reading = read_row(failure_row(kind, tree), std::move(qualifiers));
  CO_TRY(const std::vector<Row> rows, co_await std::move(reading));
  const Bytes prefix = failure_column(kind, {}).qualifier;
  std::map<std::string, std::string> found;
  for (const Cell& cell : rows.front().cells) {
    if (!cell.qualifier.starts_with(prefix)) continue;
    found.emplace(to_hex(BytesView(cell.qualifier).substr(prefix.size())), cell.value);
  }
  co_return std::move(found);
}

Task<void> TreeStore::put_branch(const TreeBranch& branch) {
  const auto merge = [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    if (stored) return std::nullopt;
    return stored_json(branch);
  };
  const Column cell = column(tree_cells::kBranch);
  const Bytes row = branch_id(branch);
  co_return co_await merge_put(*table_, row, cell, merge);
}

Task<std::optional<std::string>> TreeStore::put_leaf(Bytes branch, const TreeLeaf& leaf) {
  std::optional<std::string> other;
  const auto merge = [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    other.reset();
    if (!stored) return stored_json(leaf);
    TRY(TreeLeaf there, parse_stored_leaf(*stored));
    if (there.tsuid != leaf.tsuid) other = std::move(there.tsuid);
    return std::nullopt;
  };
  const Column cell{kFamily, leaf_qualifier(leaf.display_name)};
  CO_TRY_VOID(co_await merge_put(*table_, branch, cell, merge));
  co_return std::move(other);
}

Task<void> TreeStore::put_failure(Failure kind, std::int32_t tree, Bytes tsuid, std::string text) {
  std::vector<RowWrite> writes(1);
  writes[0].row = failure_row(kind, tree);
  writes[0].puts.push_back(CellWrite{failure_column(kind, tsuid), std::move(text), 0});
  co_return co_await table_->write(std::move(writes));
}

Task<void> TreeStore::add_series(const Tree& tree, const TreePath& place, Bytes tsuid) {
  CO_TRY_VOID(check_id(tree.id));
  const TreeBranch root = tree_root(tree.id);
  CO_TRY_VOID(co_await put_branch(root));
  if (tree.strict_match && !place.not_matched.empty()) {
    if (!tree.store_failures) co_return Result<void>();
    co_return co_await put_failure(Failure::kNotMatched, tree.id, std::move(tsuid),
                                   place.not_matched);
  }
  const TreeBranch* branch = place.branch.get();
  while (branch != nullptr) {
    CO_TRY_VOID(co_await put_branch(*branch));
    for (const TreeLeaf& leaf : branch->leaves) {
      CO_TRY(std::optional<std::string> other, co_await put_leaf(branch_id(*branch), leaf));
      if (!other || !tree.store_failures) continue;
      CO_TRY_VOID(co_await put_failure(Failure::kCollision, tree.id, tsuid, std::move(*other)));
    }
    branch = branch->branches.empty() ? nullptr : branch->branches.front().get();
  }
  co_return Result<void>();
}

}  // namespace halite::storage
