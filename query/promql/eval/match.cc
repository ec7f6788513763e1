#include "query/promql/eval/match.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "query/promql/eval/binary_op.h"
#include "query/promql/eval/counted_work.h"
#include "query/promql/eval/key_numbers.h"
#include "query/promql/eval/match_side.h"
#include "query/promql/eval/merge.h"
#include "query/promql/eval/row_groups.h"

namespace halite::query::promql {
namespace {

constexpr std::uint32_t kNone = MatchSide::kNone;

bool both_present(double a, double b) { return is_present(a) && is_present(b); }

bool overlap(std::span<const double> a, const double* b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (both_present(a[i], b[i])) return true;
  }
  return false;
}

// What does not match, the earliest of all steps.
struct Conflict {
  std::size_t step = std::numeric_limits<std::size_t>::max();
  std::string message;
};

class Matcher {
 public:
  Matcher(const Binary& binary, Vector left, Vector right, std::size_t steps, TextArena& texts,
          WorkBudget& budget)
      : binary_(binary),
        counted_(budget),
        matching_(binary.matching),
        swapped_(matching_.cardinality == MatchCardinality::kOneToMany),
        steps_(steps),
        ordered_(swapped_ ? right.ordered : left.ordered),
        groups_(matching_.labels, matching_.on),
        names_(matching_.labels),
        one_(swapped_ ? std::move(left) : std::move(right), groups_),
        many_(swapped_ ? std::move(right) : std::move(left), groups_) {
    std::ranges::sort(names_);
    for (const std::string& name : matching_.include) include_.push_back(texts.keep(name));
  }

  Result<Vector> run(Position at, Annotations& annotations) {
    if (is_empty()) return Vector();
    Conflict conflict = find_duplicate();
    // With it there can be as many pairs as both sides have rows, multiplied.
    if (!conflict.message.empty()) return fail(Errc::kInvalidArgument, conflict.message);
    TRY_VOID(make_partners());
    TRY_VOID(make_pairs());
    if (is_trim(binary_.op)) {
      if (any_match()) inform_no_histograms(binary_.op, at, annotations);
      return Vector();
    }
    TRY(const auto collision, find_collision());
    if (collision && *collision < conflict.step) {
      conflict.message = matching_.cardinality == MatchCardinality::kOneToOne
                             ? "multiple matches for labels: many-to-one matching must be explicit "
                               "(group_left/group_right)"
                             : "multiple matches for labels: grouping labels must ensure unique "
                               "matches";
    }
    if (!conflict.message.empty()) return fail(Errc::kInvalidArgument, conflict.message);
    TRY(Vector result, compute());
    TRY_VOID(merge_equal(result));
    return result;
  }

 private:
  // Rows of the one side that give the same labels to a result, as one column.
  struct Partner {
    const double* values;
    const Labels* labels;                // null: a value that fills in
    std::uint32_t next;                  // of the same signature
    std::vector<double>* own = nullptr;  // set: `values` is this copy
  };
  // A row of the many side and what it matches.
  struct Pair {
    std::uint32_t many;
    const double* one;
    Labels labels;  // of the result
  };

  [[nodiscard]] bool fills() const { return matching_.fill_left || matching_.fill_right; }
  [[nodiscard]] bool is_empty() const {
    const bool no_one = one_.rows().empty();
    const bool no_many = many_.rows().empty();
    return fills() ? no_one && no_many : no_one || no_many;
  }

  // Two rows of the one side with the same signature at a step where the other side has rows.
  [[nodiscard]] Conflict find_duplicate() const {
    std::vector<std::uint8_t> matters;
    Conflict found;
    std::uint32_t found_row = kNone;
    std::uint32_t found_before = kNone;
    std::vector<std::uint32_t> owners;
    for (std::uint32_t s = 0; s < one_.signatures(); ++s) {
      if (!one_.has_several(s)) continue;
      if (matters.empty()) matters = steps_that_matter();
      owners.assign(steps_, kNone);
      for (std::uint32_t r = one_.first(s); r != kNone; r = one_.next(r)) {
        const std::vector<double>& values = one_.rows()[r].values;
        for (std::size_t i = 0; i < steps_; ++i) {
          if (is_absent(values[i])) continue;
          if (owners[i] == kNone) {
            owners[i] = r;
          } else if (matters[i] != 0 && (i < found.step || (i == found.step && r < found_row))) {
            found.step = i;
            found_row = r;
            found_before = owners[i];
          }
        }
      }
    }
    if (found_row == kNone) return found;
    const Labels& labels = one_.rows()[found_row].labels;
    std::string first = labels.text();
    std::string second = one_.rows()[found_before].labels.text();
    if (second < first) first.swap(second);
    found.message = fmt::format(
        "found duplicate series for the match group {} on the {} hand-side of the operation: "
        "[{}, {}];many-to-many matching not allowed: matching labels must be unique on one side",
        groups_.reduce(labels).text(), swapped_ ? "left" : "right", first, second);
    return found;
  }

  [[nodiscard]] std::vector<std::uint8_t> steps_that_matter() const {
    std::vector<std::uint8_t> matters(steps_, fills() ? 1 : 0);
    for (const Row& row : many_.rows()) {
      for (std::size_t i = 0; i < steps_; ++i) {
        matters[i] = static_cast<std::uint8_t>(matters[i] | (is_present(row.values[i]) ? 1 : 0));
      }
    }
    return matters;
  }

  [[nodiscard]] bool any_match() const {
    return std::ranges::any_of(pairs_, [&](const Pair& pair) {
      return overlap(many_.rows()[pair.many].values, pair.one);
    });
  }

  [[nodiscard]] std::size_t column_bytes() const { return steps_ * sizeof(double); }

  Result<void> make_partners() {
    first_partner_.assign(one_.signatures(), kNone);
    for (std::uint32_t r = 0; r < one_.rows().size(); ++r) TRY_VOID(add_partner(r));
    if (!matching_.fill_right) return {};  // of the one side, even if that is the left one
    all_filled_.assign(steps_, *matching_.fill_right);
    for (std::uint32_t s = 0; s < one_.signatures(); ++s) {
      if (one_.first(s) == kNone) continue;
      TRY_VOID(counted_.bytes(column_bytes()));
      std::vector<double>& column = columns_.emplace_back(all_filled_);
      one_.remove_present(s, column);
      partners_.push_back({column.data(), nullptr, first_partner_[s]});
      first_partner_[s] = static_cast<std::uint32_t>(partners_.size() - 1);
    }
    return {};
  }

  Result<void> add_partner(std::uint32_t row) {
    const Row& one = one_.rows()[row];
    const std::uint32_t signature = one_.signature(row);
    const auto next = static_cast<std::uint32_t>(partners_.size());
    TRY_VOID(counted_.values(steps_ + 1));
    if (one_.has_several(signature)) {
      const std::uint32_t number = numbers_of_included_.number(included(signature, one.labels));
      if (number < with_included_.size()) {
        TRY(std::vector<double>* const column, own_column(partners_[with_included_[number]]));
        for (std::size_t i = 0; i < steps_; ++i) {
          if (is_present(one.values[i])) (*column)[i] = one.values[i];
        }
        return {};
      }
      with_included_.push_back(next);
    }
    partners_.push_back({one.values.data(), &one.labels, first_partner_[signature]});
    first_partner_[signature] = next;
    return {};
  }

  // A signature and the labels that a row gives to results.
  [[nodiscard]] std::string_view included(std::uint32_t signature, const Labels& labels) {
    key_.assign(reinterpret_cast<const char*>(&signature), sizeof signature);
    for (const std::string_view name : include_) {
      const std::string_view value = labels.get(name);
      const auto size = static_cast<std::uint32_t>(value.size());
      key_.append(reinterpret_cast<const char*>(&size), sizeof size).append(value);
    }
    return key_;
  }

  // A copy of a row's column, which other rows can be added to.
  Result<std::vector<double>*> own_column(Partner& partner) {
    if (partner.own == nullptr) {
      TRY_VOID(counted_.bytes(column_bytes()));
      partner.own = &columns_.emplace_back(partner.values, partner.values + steps_);
      partner.values = partner.own->data();
    }
    return partner.own;
  }

  Result<void> make_pairs() {
    const auto rows = static_cast<std::uint32_t>(many_.rows().size());
    pairs_.reserve(rows);
    for (std::uint32_t m = 0; m < rows; ++m) TRY_VOID(add_pairs(m));
    if (!matching_.fill_left) return {};
    for (std::uint32_t r = 0; r < one_.rows().size(); ++r) {
      TRY_VOID(counted_.bytes(column_bytes()));
      TRY_VOID(counted_.values(steps_ + 1));
      fill_many(r);
    }
    return {};
  }

  Result<void> add_pairs(std::uint32_t many) {
    Row& row = many_.rows()[many];
    const std::uint32_t signature = many_.signature(many);
    if (one_.first(signature) == kNone) {
      if (matching_.fill_right) pairs_.push_back({many, all_filled_.data(), filled_labels(row)});
      return {};
    }
    for (std::uint32_t p = first_partner_[signature]; p != kNone; p = partners_[p].next) {
      const Partner& partner = partners_[p];
      TRY_VOID(counted_.values(steps_ + 1));
      if (p == first_partner_[signature] && partner.next == kNone) {  // the only one
        pairs_.push_back(
            {many, partner.values, result_labels(std::move(row.labels), *partner.labels)});
      } else if (overlap(row.values, partner.values)) {
        // The last pair of a row gets its column, the others a copy.
        TRY_VOID(counted_.bytes(column_bytes() + sizeof(Pair) +
                                (row.labels.size() + include_.size()) * sizeof(Label)));
        pairs_.push_back({many, partner.values,
                          partner.labels == nullptr ? filled_labels(row)
                                                    : result_labels(row.labels, *partner.labels)});
      }
    }
    return {};
  }

  // Gives a row of the one side a partner where it has none.
  void fill_many(std::uint32_t row) {
    const Row& one = one_.rows()[row];
    const std::uint32_t signature = one_.signature(row);
    std::vector<double> column = one.values;
    for (double& value : column) {
      if (is_present(value)) value = *matching_.fill_left;
    }
    many_.remove_present(signature, column);
    if (std::ranges::none_of(column, is_present)) return;
    pairs_.push_back({static_cast<std::uint32_t>(many_.rows().size()), one.values.data(),
                      result_labels(groups_.reduce(one.labels), one.labels)});
    many_.add({{}, std::move(column)}, signature);
  }

  [[nodiscard]] Labels filled_labels(const Row& many) const {
    return result_labels(many.labels, groups_.reduce(many.labels));
  }
  [[nodiscard]] Labels result_labels(Labels many, const Labels& one) const {
    if (drops_name(binary_)) many.drop_name();
    if (matching_.cardinality == MatchCardinality::kOneToOne) {
      if (matching_.on) {
        many.keep_only(names_);
      } else {
        many.erase_all(names_);
      }
    }
    for (const std::string_view name : include_) many.set(name, one.get(name));
    return many;
  }

  // The first step with two results that one to one matching, or the labels of results, do not
  // allow.
  Result<std::optional<std::size_t>> find_collision() {
    const bool one_to_one = matching_.cardinality == MatchCardinality::kOneToOne;
    // Then rows keep their own labels.
    if (!one_to_one && include_.empty() && !drops_name(binary_)) return {};
    struct Seen {
      std::size_t pair;
      std::vector<std::uint8_t> steps;  // empty: only `pair`
    };
    std::vector<Seen> seen;
    KeyNumbers numbers;
    std::string key;
    std::size_t first = steps_;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const std::uint32_t signature = many_.signature(pairs_[p].many);
      if (!many_.has_several(signature)) continue;
      key.assign(reinterpret_cast<const char*>(&signature), sizeof signature);
      if (!one_to_one) pairs_[p].labels.append_key(key);
      const std::uint32_t number = numbers.number(key);
      if (number == seen.size()) {
        seen.push_back({p, {}});
        continue;
      }
      TRY_VOID(counted_.values(steps_ + 1));
      if (seen[number].steps.empty()) {
        TRY_VOID(counted_.bytes(steps_));
        seen[number].steps.resize(steps_);
        first = std::min(first, mark(pairs_[seen[number].pair], seen[number].steps));
      }
      first = std::min(first, mark(pairs_[p], seen[number].steps));
    }
    return first < steps_ ? std::optional(first) : std::nullopt;
  }

  // The first step that is marked already.
  [[nodiscard]] std::size_t mark(const Pair& pair, std::span<std::uint8_t> marked) const {
    const std::vector<double>& values = many_.rows()[pair.many].values;
    std::size_t first = steps_;
    for (std::size_t i = 0; i < steps_; ++i) {
      if (!both_present(values[i], pair.one[i])) continue;
      if (marked[i] != 0) first = std::min(first, i);
      marked[i] = 1;
    }
    return first;
  }

  Result<Vector> compute() {
    Vector result;
    result.ordered = ordered_;
    result.rows.reserve(pairs_.size());
    Result<void> done;
    with_operator(binary_.op, [&](auto function) {
      for (std::size_t p = 0; p < pairs_.size() && done; ++p) {
        done = counted_.values(steps_ + 1);
        Pair& pair = pairs_[p];
        std::vector<double>& many = many_.rows()[pair.many].values;
        const bool last = p + 1 == pairs_.size() || pairs_[p + 1].many != pair.many;
        std::vector<double> values = last ? std::move(many) : many;
        join(function, values.data(), pair.one);
        result.rows.push_back({std::move(pair.labels), std::move(values)});
      }
    });
    TRY_VOID(done);
    return result;
  }

  template <class Function>
  void join(Function function, double* many, const double* one) const {
    for (std::size_t i = 0; i < steps_; ++i) {
      const double left = swapped_ ? one[i] : many[i];
      const double right = swapped_ ? many[i] : one[i];
      many[i] = both_present(left, right)
                    ? element(function, binary_.returns_bool, left, right, left)
                    : kAbsent;
    }
  }

  const Binary& binary_;
  CountedWork counted_;
  const VectorMatching& matching_;
  const bool swapped_;  // the one side is the left one
  const std::size_t steps_;
  const bool ordered_;
  RowGroups groups_;
  std::vector<std::string> names_;
  std::vector<std::string_view> include_;
  MatchSide one_;  // before many_: its signatures are the first ones
  MatchSide many_;
  std::vector<Partner> partners_;
  std::vector<std::uint32_t> first_partner_;  // of each signature of the one side
  // Of signatures with several rows: a number for what included() tells apart, and its partner.
  KeyNumbers numbers_of_included_;
  std::vector<std::uint32_t> with_included_;
  std::string key_;
  std::vector<double> all_filled_;
  std::deque<std::vector<double>> columns_;
  std::vector<Pair> pairs_;
};

}  // namespace

Result<Vector> match_vectors(const Binary& binary, Vector left, Vector right, const Steps& steps,
                             Position at, TextArena& texts, Annotations& annotations,
                             WorkBudget& budget) {
  return Matcher(binary, std::move(left), std::move(right), steps.count, texts, budget)
      .run(at, annotations);
}

}  // namespace halite::query::promql
