// The rows of one side of a vector matching by their signature: the labels that decide what
// matches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "query/promql/eval/row_groups.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

class MatchSide {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  MatchSide(Vector vector, RowGroups& signatures) : rows_(std::move(vector.rows)) {
    for (std::uint32_t r = 0; r < rows_.size(); ++r) link(r, signatures.of(rows_[r].labels));
  }

  [[nodiscard]] std::vector<Row>& rows() { return rows_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] std::uint32_t signature(std::uint32_t row) const { return signatures_[row]; }
  // The rows of a signature, in order: for (r = first(s); r != kNone; r = next(r)).
  [[nodiscard]] std::uint32_t first(std::uint32_t signature) const {
    return signature < lists_.size() ? lists_[signature].first : kNone;
  }
  [[nodiscard]] std::uint32_t next(std::uint32_t row) const { return next_[row]; }
  [[nodiscard]] bool has_several(std::uint32_t signature) const {
    return signature < lists_.size() && lists_[signature].first != lists_[signature].last;
  }
  [[nodiscard]] std::uint32_t signatures() const {
    return static_cast<std::uint32_t>(lists_.size());
  }

  void add(Row row, std::uint32_t signature) {
    rows_.push_back(std::move(row));
    link(static_cast<std::uint32_t>(rows_.size() - 1), signature);
  }
  // Where `column` has a value and a row of this signature has too: none any more.
  void remove_present(std::uint32_t signature, std::span<double> column) const {
    for (std::uint32_t r = first(signature); r != kNone; r = next(r)) {
      for (std::size_t i = 0; i < column.size(); ++i) {
        column[i] = is_present(rows_[r].values[i]) ? kAbsent : column[i];
      }
    }
  }

 private:
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  void link(std::uint32_t row, std::uint32_t signature) {
    if (signature >= lists_.size()) lists_.resize(signature + 1);
    List& list = lists_[signature];
    if (list.first == kNone) {
      list.first = row;
    } else {
      next_[list.last] = row;
    }
    list.last = row;
    next_.push_back(kNone);
    signatures_.push_back(signature);
  }

  std::vector<Row> rows_;
  std::vector<std::uint32_t> signatures_;
  std::vector<std::uint32_t> next_;
  std::vector<List> lists_;
};

}  // namespace halite::query::promql
