#include "storage/meta/trees/tree_builder.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <re2/re2.h>

namespace halite::storage {
namespace {

constexpr int kDepthMax = 256;  // maximum depth of branches

std::string to_text(const TreeBranch& branch) {
  if (branch.path.empty()) return fmt::format("Name: [{}]", branch.display_name);
  return fmt::format("ID: [{}] Name: [{}]", to_hex(branch_id(branch)), branch.display_name);
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Like Java's String.split: no empty pieces at the end, and none before an empty match at the
// beginning.
std::vector<std::string> split(std::string_view text, const re2::RE2& separator) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  std::size_t from = 0;
  re2::StringPiece match;
  const re2::StringPiece whole(text.data(), text.size());
  while (from <= text.size() &&
         separator.Match(whole, from, whole.size(), re2::RE2::UNANCHORED, &match, 1)) {
    const auto at = static_cast<std::size_t>(match.data() - text.data());
    const std::size_t end = at + match.size();
    from = match.empty() ? end + 1 : end;
    if (end == 0 || (match.empty() && at == text.size())) continue;
    pieces.emplace_back(text.substr(begin, at - begin));
    begin = end;
  }
  pieces.emplace_back(text.substr(begin));
  while (pieces.size() > 1 && pieces.back().empty()) pieces.pop_back();
  return pieces;
}

void fill_paths(const TreeBranch& parent, TreeBranch& branch) {
  branch.path = parent.path;
  branch.path.push_back(branch.display_name);
  for (const auto& child : branch.branches) fill_paths(branch, *child);
}

}  // namespace

TreeBranch tree_root(std::int32_t tree_id) {
  TreeBranch root;
  root.tree_id = tree_id;
  root.display_name = "ROOT";
  root.path = {"ROOT"};
  return root;
}

TreeBuilder::TreeBuilder(Tree tree) : tree_(std::move(tree)) {
  for (const auto& [level, rules] : tree_.rules) {
    for (const auto& [order, rule] : rules) {
      Patterns& patterns = patterns_[{level, order}];
      if (!rule.regex.empty()) {
        patterns.regex = std::make_unique<re2::RE2>(rule.regex, re2::RE2::Quiet);
      }
      if (!rule.separator.empty()) {
        patterns.separator = std::make_unique<re2::RE2>(rule.separator, re2::RE2::Quiet);
      }
    }
  }
}

TreeBuilder::~TreeBuilder() = default;

// The state of one series on its way through the levels.
class TreeBuilder::Run {
 public:
  Run(const TreeBuilder& builder, const TsMeta& series, TreePath& place)
      : builder_(builder), series_(series), place_(place), level_(builder.tree_.rules.begin()) {}

  Result<void> start(TreeBranch& root) {
    TRY(const bool complete, descend(root, 1));
    static_cast<void>(complete);
    place_.branch = current_;
    return {};
  }

 private:
  using Levels = TreeRules::const_iterator;

  void say(std::string message) { place_.messages.push_back(std::move(message)); }

  // Names the current branch by the level's rules and goes one level deeper. True: there are no
  // levels left, so the caller has the leaf.
  Result<bool> descend(TreeBranch& parent, int depth) {
    if (level_ == builder_.tree_.rules.end()) return true;
    if (depth > kDepthMax) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("TSUID {} would be more than {} branches deep in tree {}",
                              series_.tsuid, kDepthMax, builder_.tree_.id));
    }
    const std::shared_ptr<TreeBranch> previous = current_;
    current_ = std::make_shared<TreeBranch>();
    current_->tree_id = builder_.tree_.id;
    const std::shared_ptr<TreeBranch> mine = current_;
    TRY_VOID(match_level());
    if (splits_ && split_at_ < splits_->size()) {
      // The current rule has more pieces.
    } else {
      splits_.reset();
      split_at_ = 0;
      ++level_;
    }
    TRY(const bool complete, descend(*mine, ++depth));
    return complete ? finish_leaf(parent, previous, depth) : finish_branch(parent, previous, depth);
  }

  Result<void> match_level() {
    const TreeRule* last = nullptr;
    for (const auto& [order, rule] : level_->second) {
      last = &rule;
      say(fmt::format("Processing rule: {}", storage::to_text(rule)));
      TRY_VOID(apply(rule));
      if (!current_->display_name.empty()) return {};
    }
    if (!place_.not_matched.empty()) place_.not_matched += ' ';
    place_.not_matched += storage::to_text(*last);
    return {};
  }

  bool finish_leaf(TreeBranch& parent, const std::shared_ptr<TreeBranch>& previous, int depth) {
    if (current_->display_name.empty()) {
      current_ = previous;
      return true;
    }
    if (parent.display_name.empty()) {
      say(fmt::format("Depth [{}] Parent branch was empty, rolling back", depth));
      return true;
    }
    TreeLeaf leaf{
        .display_name = current_->display_name, .tsuid = series_.tsuid, .metric = {}, .tags = {}};
    say(fmt::format("Depth [{}] Adding leaf [name: {} tsuid: {}] to parent branch [{}]", depth,
                    leaf.display_name, leaf.tsuid, to_text(parent)));
    parent.leaves.push_back(std::move(leaf));
    current_ = previous;
    return false;
  }

  bool finish_branch(TreeBranch& parent, const std::shared_ptr<TreeBranch>& previous, int depth) {
    const bool unnamed = current_ == nullptr || current_->display_name.empty();
    if ((previous == nullptr || previous->display_name.empty()) && !unnamed) {
      if (depth > 2) {
        say(fmt::format("Depth [{}] Skipping a non-matched branch, returning: {}", depth,
                        to_text(*current_)));
      }
      return false;
    }
    if (unnamed) {
      say(fmt::format("Depth [{}] Branch was empty", depth));
      current_ = previous;
      return false;
    }
    if (current_->display_name == previous->display_name) {
      say(fmt::format("Depth [{}] Current was the same as previous", depth));
      return false;
    }
    parent.branches.push_back(current_);
    say(fmt::format("Depth [{}] Adding branch: {} to parent: {}", depth, to_text(*current_),
                    to_text(parent)));
    current_ = previous;
    return false;
  }

  Result<void> apply(const TreeRule& rule) {
    switch (rule.type.value_or(TreeRuleType::kMetric)) {
      case TreeRuleType::kMetric:
        return take(rule, series_.metric.name);
      case TreeRuleType::kMetricCustom:
        return apply_custom(rule, series_.metric, "metric");
      case TreeRuleType::kTagk:
        return apply_tag(rule);
      case TreeRuleType::kTagkCustom:
        return apply_tag_custom(rule, NameKind::kTagKey, "tagk");
      case TreeRuleType::kTagvCustom:
        return apply_tag_custom(rule, NameKind::kTagValue, "tagv");
    }
    return {};
  }

  Result<void> apply_tag(const TreeRule& rule) {
    for (std::size_t i = 0; i + 1 < series_.tags.size(); i += 2) {
      if (series_.tags[i].name != rule.field) continue;
      say(fmt::format("Matched tagk [{}] for rule: {}", rule.field, storage::to_text(rule)));
      return take(rule, series_.tags[i + 1].name);
    }
    say(fmt::format("No match on tagk [{}] for rule: {}", rule.field, storage::to_text(rule)));
    return {};
  }

  Result<void> apply_tag_custom(const TreeRule& rule, NameKind kind, std::string_view what) {
    const auto tag = std::ranges::find_if(series_.tags, [&](const UidMeta& meta) {
      return meta.kind == kind && meta.name == rule.field;
    });
    const bool found = tag != series_.tags.end();
    say(fmt::format("{} {} [{}] for rule: {}", found ? "Matched" : "No match on", what, rule.field,
                    storage::to_text(rule)));
    return found ? apply_custom(rule, *tag, what) : Result<void>();
  }

  Result<void> apply_custom(const TreeRule& rule, const UidMeta& meta, std::string_view what) {
    const bool found = meta.custom && meta.custom->contains(rule.custom_field);
    if (found) {
      const std::optional<std::string>& value = meta.custom->at(rule.custom_field);
      if (!value) {
        return fail(Errc::kInvalidArgument, fmt::format("Value for custom {} field [{}] was null",
                                                        what, rule.custom_field));
      }
      TRY_VOID(take(rule, *value));
    }
    say(fmt::format("{} custom tag [{}] for rule: {}", found ? "Matched" : "No match on",
                    rule.custom_field, storage::to_text(rule)));
    return {};
  }

  // Applies the rule to a value and sets the branch's name.
  Result<void> take(const TreeRule& rule, const std::string& value) {
    const Patterns& patterns = builder_.patterns_.at({rule.level, rule.order});
    if (patterns.regex) {
      take_group(rule, *patterns.regex, value);
      return {};
    }
    if (!patterns.separator) {
      set_name(rule, value, value);
      return {};
    }
    if (!splits_) {
      if (value.empty()) {
        return fail(Errc::kInvalidArgument,
                    fmt::format("Value was empty for rule: {}", storage::to_text(rule)));
      }
      splits_ = split(value, *patterns.separator);
      split_at_ = 0;
    }
    set_name(rule, value, (*splits_)[split_at_++]);
    return {};
  }

  void take_group(const TreeRule& rule, const re2::RE2& regex, const std::string& value) {
    const int groups = regex.NumberOfCapturingGroups();
    std::vector<re2::StringPiece> found(static_cast<std::size_t>(groups) + 1);
    if (!regex.Match(value, 0, value.size(), re2::RE2::UNANCHORED, found.data(), groups + 1)) {
      return;
    }
    if (rule.regex_group >= groups) {
      say(fmt::format("Regex group index [{}] for rule {} was out of bounds [{}]", rule.regex_group,
                      storage::to_text(rule), groups));
      return;
    }
    const re2::StringPiece group = found[static_cast<std::size_t>(rule.regex_group) + 1];
    if (group.empty()) {
      say(fmt::format("Extracted value for rule {} was null or empty", storage::to_text(rule)));
      return;
    }
    set_name(rule, value, std::string(group.data(), group.size()));
  }

  void set_name(const TreeRule& rule, const std::string& original, const std::string& value) {
    if (rule.display_format.empty()) {
      current_->display_name = value;
      return;
    }
    std::string name = rule.display_format;
    replace_all(name, "{ovalue}", original);
    replace_all(name, "{value}", value);
    replace_all(name, "{tsuid}", series_.tsuid);
    if (name.find("{tag_name}") != std::string::npos) {
      const bool metric = rule.type == TreeRuleType::kMetric;
      const bool tag = rule.type == TreeRuleType::kTagk;
      replace_all(name, "{tag_name}", metric ? "" : tag ? rule.field : rule.custom_field);
      if (metric) {
        say(fmt::format("Display rule {} was of the wrong type to match on {{tag_name}}",
                        storage::to_text(rule)));
      }
    }
    current_->display_name = std::move(name);
  }

  const TreeBuilder& builder_;
  const TsMeta& series_;
  TreePath& place_;
  Levels level_;
  std::shared_ptr<TreeBranch> current_;
  std::optional<std::vector<std::string>> splits_;  // of the current rule's value
  std::size_t split_at_ = 0;
};

Result<TreePath> TreeBuilder::run(const TsMeta& series) const {
  TreePath place;
  TreeBranch root = tree_root(tree_.id);
  Run run(*this, series, place);
  TRY_VOID(run.start(root));
  place.root_leaves = std::move(root.leaves);
  if (place.branch) fill_paths(root, *place.branch);
  return place;
}

}  // namespace halite::storage
