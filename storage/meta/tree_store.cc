#include "storage/meta/tree_store.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "storage/meta/merge_put.h"
#include "storage/schema/tsuid.h"

namespace halite::storage {
namespace {

constexpr Family kFamily = 0;
constexpr std::string_view kTreeCell = "tree";
constexpr std::string_view kRulePrefix = "tree_rule:";
constexpr std::string_view kBranchCell = "branch";
constexpr std::string_view kLeafPrefix = "leaf:";
constexpr std::string_view kCollisionPrefix = "tree_collision:";
constexpr std::string_view kNotMatchedPrefix = "tree_not_matched:";
constexpr std::size_t kTreeIdBytes = 2;
constexpr std::size_t kHashBytes = 4;
constexpr std::uint32_t kKeysAtOnce = 64;

Result<void> check_id(std::int32_t id) {
  if (id >= 1 && id <= kTreeIdMax) return {};
  return fail(Errc::kInvalidArgument, "Invalid Tree ID");
}

Column column(std::string_view qualifier) { return Column{kFamily, Bytes(qualifier)}; }

Column rule_column(std::int32_t level, std::int32_t order) {
  return column(fmt::format("{}{}:{}", kRulePrefix, level, order));
}

Column failure_column(TreeStore::Failure kind, BytesView tsuid) {
  const bool collision = kind == TreeStore::Failure::kCollision;
  return column(Bytes(collision ? kCollisionPrefix : kNotMatchedPrefix) + Bytes(tsuid));
}

Bytes failure_row(TreeStore::Failure kind, std::int32_t tree) {
  Bytes row = tree_row(tree);
  row += kind == TreeStore::Failure::kCollision ? '\x01' : '\x02';
  return row;
}

std::unexpected<Error> damaged(BytesView row, BytesView qualifier, const Error& error) {
  return fail(Errc::kCorruption, fmt::format("tree table, row {}, cell {}: {}", to_hex(row),
                                             to_hex(qualifier), error.message));
}

struct StoredTree {
  Tree tree;
  bool defined = false;  // not only rules or branches
};

Result<StoredTree> parse_tree(const Row& row) {
  StoredTree found;
  TreeRules rules;
  for (const Cell& cell : row.cells) {
    if (cell.qualifier == kTreeCell) {
      Result<Tree> stored = parse_stored_tree(cell.value);
      if (!stored) return damaged(row.key, cell.qualifier, stored.error());
      found.tree = std::move(*stored);
      found.defined = true;
    } else if (cell.qualifier.starts_with(kRulePrefix)) {
      Result<TreeRule> rule = parse_tree_rule(cell.value);
      if (!rule) return damaged(row.key, cell.qualifier, rule.error());
      rules[rule->level][rule->order] = std::move(*rule);
    }
  }
  found.tree.id = static_cast<std::int32_t>(load_be<std::uint16_t>(row.key.data()));
  found.tree.rules = std::move(rules);
  return found;
}

bool belongs_to_branches(BytesView qualifier) {
  return qualifier == kBranchCell || qualifier.starts_with(kLeafPrefix) ||
         qualifier.starts_with(kCollisionPrefix) || qualifier.starts_with(kNotMatchedPrefix);
}

bool belongs_to_definition(BytesView qualifier) {
  return qualifier == kTreeCell || qualifier.starts_with(kRulePrefix);
}

}  // namespace

TableSpec tree_table_spec(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"t", 0}};
  return spec;
}

TreeStore::TreeStore(std::shared_ptr<Table> table, UidTable& uids, UidWidths widths,
                     TreeOptions options)
    : table_(std::move(table)), uids_(uids), widths_(widths), options_(options) {}

Task<std::vector<Row>> TreeStore::read_row(Bytes row, std::vector<Bytes> qualifiers) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{std::move(row), kFamily, std::move(qualifiers)});
  co_return co_await table_->read(std::move(reads));
}

Task<std::optional<Tree>> TreeStore::get(std::int32_t id) {
  CO_TRY_VOID(check_id(id));
  auto reading = read_row(tree_row(id), {});
  CO_TRY(const std::vector<Row> rows, co_await std::move(reading));
  if (rows.front().cells.empty()) co_return std::nullopt;
  CO_TRY(StoredTree found, parse_tree(rows.front()));
  co_return std::optional<Tree>(std::move(found.tree));
}

// From one tree's rows to the next tree's: there are far fewer trees than branches.
Task<std::vector<Tree>> TreeStore::all() {
  std::vector<Tree> trees;
  std::int32_t id = 1;
  while (id <= kTreeIdMax) {
    ScanSpec spec;
    spec.family = kFamily;
    spec.ranges.push_back(KeyRange{tree_row(id), {}});
    spec.keys_only = true;
    const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec));
    ScanLimit limit;
    limit.rows_max = 1;
    CO_TRY(const std::vector<Row> rows, co_await scanner->next(limit));
    if (rows.empty()) break;
    if (rows.front().key.size() < kTreeIdBytes) {
      co_return fail(Errc::kCorruption, fmt::format("tree table: row {} belongs to no tree",
                                                    to_hex(rows.front().key)));
    }
    id = load_be<std::uint16_t>(rows.front().key.data());
    auto reading = read_row(tree_row(id), {});
    CO_TRY(const std::vector<Row> row, co_await std::move(reading));
    ++id;
    if (row.front().cells.empty()) continue;
    CO_TRY(StoredTree found, parse_tree(row.front()));
    if (found.defined) trees.push_back(std::move(found.tree));
  }
  co_return std::move(trees);
}

Task<std::int32_t> TreeStore::create(TreeEdit edit) {
  if (edit.tree.name.empty()) {
    co_return fail(Errc::kInvalidArgument, "Tree was missing the name");
  }
  CO_TRY(const std::vector<Tree> trees, co_await all());
  std::int32_t id = trees.empty() ? 1 : trees.back().id + 1;
  const Bytes text = stored_json(edit.tree);
  for (; id <= kTreeIdMax; ++id) {
    bool ours = false;
    const auto merge = [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
      // A try whose answer got lost may have left our own text.
      ours = !stored || (ours && *stored == text);
      if (stored) return std::nullopt;
      return text;
    };
    const Column cell = column(kTreeCell);
    const Bytes row = tree_row(id);
    CO_TRY_VOID(co_await merge_put(*table_, row, cell, merge));
    if (ours) {
      ++version_;
      co_return id;
    }
  }
  co_return fail(Errc::kTooLarge, "Exhausted all Tree IDs");
}

Task<void> TreeStore::change(TreeEdit edit, bool replace) {
  CO_TRY_VOID(check_id(edit.tree.id));
  const auto merge = [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    if (!stored) return stored_json(edit.tree);
    TRY(const Tree before, parse_stored_tree(*stored));
    return stored_json(merged(edit, before, replace));
  };
  const Column cell = column(kTreeCell);
  const Bytes row = tree_row(edit.tree.id);
  CO_TRY_VOID(co_await merge_put(*table_, row, cell, merge));
  ++version_;
  co_return Result<void>();
}

Task<void> TreeStore::remove(std::int32_t id, bool definition) {
  CO_TRY_VOID(check_id(id));
  ScanSpec spec;
  spec.family = kFamily;
  spec.ranges.push_back(KeyRange{tree_row(id), prefix_end(tree_row(id))});
  const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec));
  for (;;) {
    CO_TRY(const std::vector<Row> rows, co_await scanner->next(ScanLimit{}));
    if (rows.empty()) break;
    std::vector<RowWrite> writes;
    for (const Row& row : rows) {
      RowWrite write;
      write.row = row.key;
      for (const Cell& cell : row.cells) {
        const bool goes = belongs_to_branches(cell.qualifier) ||
                          (definition && belongs_to_definition(cell.qualifier));
        if (goes) write.deletes.push_back(Column{kFamily, cell.qualifier});
      }
      if (!write.deletes.empty()) writes.push_back(std::move(write));
    }
    if (!writes.empty()) CO_TRY_VOID(co_await table_->write(std::move(writes)));
  }
  ++version_;
  co_return Result<void>();
}

Task<bool> TreeStore::put_rule(TreeRule edit, bool replace) {
  CO_TRY_VOID(check_id(edit.tree_id));
  bool changed = true;
  const auto merge = [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    TreeRule rule = edit;
    if (stored) {
      TRY(const TreeRule before, parse_tree_rule(*stored));
      rule = merged(edit, before, replace);
      changed = replace || rule != before;
      if (!changed) return std::nullopt;
    }
    TRY_VOID(check_tree_rule(rule));
    Bytes text;
    append_shown_json(text, rule);
    return text;
  };
  const Column cell = rule_column(edit.level, edit.order);
  const Bytes row = tree_row(edit.tree_id);
  CO_TRY_VOID(co_await merge_put(*table_, row, cell, merge));
  ++version_;
  co_return changed;
}

Task<void> TreeStore::remove_rule(std::int32_t tree, std::int32_t level, std::int32_t order) {
  CO_TRY_VOID(check_id(tree));
  std::vector<RowWrite> writes(1);
  writes[0].row = tree_row(tree);
  writes[0].deletes.push_back(rule_column(level, order));
  CO_TRY_VOID(co_await table_->write(std::move(writes)));
  ++version_;
  co_return Result<void>();
}

Task<void> TreeStore::remove_rules(std::int32_t tree) {
  CO_TRY_VOID(check_id(tree));
  auto reading = read_row(tree_row(tree), {});
  CO_TRY(const std::vector<Row> rows, co_await std::move(reading));
  std::vector<RowWrite> writes(1);
  writes[0].row = tree_row(tree);
  for (const Cell& cell : rows.front().cells) {
    if (!cell.qualifier.starts_with(kRulePrefix)) continue;
    writes[0].deletes.push_back(Column{kFamily, cell.qualifier});
  }
  if (writes[0].deletes.empty()) co_return Result<void>();
  CO_TRY_VOID(co_await table_->write(std::move(writes)));
  ++version_;
  co_return Result<void>();
}

// Deeper branches are passed over: from each child to what follows its rows.
Task<std::vector<Bytes>> TreeStore::child_keys(Bytes id) {
  std::vector<Bytes> children;
  Bytes from = id + Bytes(1, '\0');
  const Bytes end = prefix_end(id);
  while (!from.empty() && (end.empty() || from < end)) {
    ScanSpec spec;
    spec.family = kFamily;
    spec.ranges.push_back(KeyRange{from, end});
    spec.keys_only = true;
    const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec));
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
    if (cell.qualifier == kBranchCell) {
      Result<TreeBranch> stored = parse_stored_branch(cell.value);
      if (!stored) co_return damaged(id, cell.qualifier, stored.error());
      branch = std::move(*stored);
    } else if (cell.qualifier.starts_with(kLeafPrefix)) {
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
  for (const Bytes& key : keys) reads.push_back(RowRead{key, kFamily, {Bytes(kBranchCell)}});
  CO_TRY(const std::vector<Row> children, co_await table_->read(std::move(reads)));
  for (const Row& row : children) {
    if (row.cells.empty()) continue;
    Result<TreeBranch> child = parse_stored_branch(row.cells.front().value);
    if (!child) co_return damaged(row.key, kBranchCell, child.error());
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
  const Column cell = column(kBranchCell);
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

Task<void> TreeStore::hang(const Tree& tree, const TreePlace& place, Bytes tsuid) {
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
