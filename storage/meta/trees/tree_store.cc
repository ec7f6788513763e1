#include "storage/meta/trees/tree_store.h"

#include <utility>

#include <fmt/format.h>

#include "storage/meta/objects/merge_put.h"
#include "storage/meta/trees/tree_cells.h"

namespace halite::storage {
namespace {

using tree_cells::check_id;
using tree_cells::column;
using tree_cells::damaged;
using tree_cells::kFamily;

constexpr std::size_t kTreeIdBytes = 2;

Column rule_column(std::int32_t level, std::int32_t order) {
  return column(fmt::format("{}{}:{}", tree_cells::kRulePrefix, level, order));
}

struct StoredTree {
  Tree tree;
  bool defined = false;  // true: there is a definition, not only rules or branches
};

Result<StoredTree> parse_tree(const Row& row) {
  StoredTree found;
  TreeRules rules;
  for (const Cell& cell : row.cells) {
    if (cell.qualifier == tree_cells::kTree) {
      Result<Tree> stored = parse_stored_tree(cell.value);
      if (!stored) return damaged(row.key, cell.qualifier, stored.error());
      found.tree = std::move(*stored);
      found.defined = true;
    } else if (cell.qualifier.starts_with(tree_cells::kRulePrefix)) {
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
  return qualifier == tree_cells::kBranch || qualifier.starts_with(tree_cells::kLeafPrefix) ||
         qualifier.starts_with(tree_cells::kCollisionPrefix) ||
         qualifier.starts_with(tree_cells::kNotMatchedPrefix);
}

bool belongs_to_definition(BytesView qualifier) {
  return qualifier == tree_cells::kTree || qualifier.starts_with(tree_cells::kRulePrefix);
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

// Seeks from one tree's rows to the next tree's, because there are far fewer trees than branches.
Task<std::vector<Tree>> TreeStore::all() {
  std::vector<Tree> trees;
  std::int32_t id = 1;
  while (id <= kTreeIdMax) {
    ScanSpec spec;
    spec.family = kFamily;
    spec.ranges.push_back(KeyRange{tree_row(id), {}});
    spec.keys_only = true;
    const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
    ScanLimit limit;
    limit.rows_max = 1;
    CO_TRY(const std::vector<Row> rows, co_await scanner->next(limit));
    if (rows.empty()) break;
    if (rows.front().key.size() < kTreeIdBytes) {
      co_return fail(Errc::kCorruption, fmt::format("tree table: row {} does not belong to a tree",
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
      // An earlier try whose response was lost may have written this text.
      ours = !stored || (ours && *stored == text);
      if (stored) return std::nullopt;
      return text;
    };
    const Column cell = column(tree_cells::kTree);
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
  const Column cell = column(tree_cells::kTree);
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
  const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
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
    if (!cell.qualifier.starts_with(tree_cells::kRulePrefix)) continue;
    writes[0].deletes.push_back(Column{kFamily, cell.qualifier});
  }
  if (writes[0].deletes.empty()) co_return Result<void>();
  CO_TRY_VOID(co_await table_->write(std::move(writes)));
  ++version_;
  co_return Result<void>();
}

}  // namespace halite::storage
