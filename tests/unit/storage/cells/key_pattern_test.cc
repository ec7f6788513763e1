// What servers are told of row keys, held against the rows themselves.
#include "storage/cells/key_pattern.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::storage {
namespace {

using Tags = std::map<std::uint64_t, std::uint64_t>;  // value by key

class KeyPatternTest : public testing::Test {
 protected:
  Bytes row(const Tags& tags) const {
    const UidWidths& widths = layout_->widths();
    Bytes tsuid;
    append_be_width(tsuid, 7, widths.metric);
    for (const auto& [key, value] : tags) {
      append_be_width(tsuid, key, widths.tag_key);
      append_be_width(tsuid, value, widths.tag_value);
    }
    return layout_->row_key(tsuid, 1'356'998'400'000);
  }

  static TagKeyMatcher any_of(std::uint64_t key, const std::vector<std::uint64_t>& values) {
    TagKeyMatcher condition(key);
    condition.want_any_of(values);
    return condition;
  }
  static TagKeyMatcher present(std::uint64_t key) {
    TagKeyMatcher condition(key);
    condition.want_match(nullptr, false);
    return condition;
  }

  ScanHint hint(const std::vector<TagKeyMatcher>& matchers,
                std::optional<std::size_t> exactly = std::nullopt, bool few = false) const {
    ScanHint hint;
    add_row_pattern(*layout_, matchers, exactly, few, limits_, hint);
    return hint;
  }

  static bool passes(const ScanHint& hint, const Bytes& row) {
    if (hint.row_masks.empty() && hint.row_regex.empty()) return true;
    if (!hint.row_regex.empty()) {
      RE2::Options options(RE2::Latin1);
      const RE2 regex(hint.row_regex, options);
      EXPECT_TRUE(regex.ok()) << regex.error();
      return RE2::PartialMatch(row, regex);
    }
    return std::ranges::any_of(hint.row_masks, [&row](const KeyMask& mask) {
      if (row.size() < mask.key.size()) return false;
      for (std::size_t i = 0; i < mask.key.size(); ++i) {
        if (mask.any[i] == 0 && mask.key[i] != row[i]) return false;
      }
      return true;
    });
  }

  std::unique_ptr<RowLayout> layout_ = OpentsdbLayout::make({}).value();
  KeyPatternLimits limits_;
};

TEST_F(KeyPatternTest, NamedValuesAreFoundWhereverTheirPairStands) {
  const ScanHint told = hint({any_of(5, {1, 300})});
  EXPECT_TRUE(passes(told, row({{5, 1}})));
  EXPECT_TRUE(passes(told, row({{2, 1}, {5, 300}, {9, 9}})));
  EXPECT_FALSE(passes(told, row({{5, 2}})));
  EXPECT_FALSE(passes(told, row({{4, 1}, {6, 1}})));
  EXPECT_FALSE(passes(told, row({})));
}

// The bytes of a pair may stand between two others.
TEST_F(KeyPatternTest, PairsAreReadWhereTheyBegin) {
  const ScanHint told = hint({any_of(0x000500, {0x000100})});
  EXPECT_TRUE(passes(told, row({{0x000500, 0x000100}})));
  // 000005 000001 000007 000001: "000500 0001.." begins in the middle of the first key.
  EXPECT_FALSE(passes(told, row({{0x000005, 0x000001}, {0x000007, 0x000001}})));
}

TEST_F(KeyPatternTest, KeysComeInTheOrderOfTheirIds) {
  const ScanHint told = hint({any_of(9, {1}), present(2), any_of(5, {7})});
  EXPECT_TRUE(passes(told, row({{2, 4}, {5, 7}, {9, 1}})));
  EXPECT_TRUE(passes(told, row({{1, 1}, {2, 4}, {3, 3}, {5, 7}, {9, 1}, {10, 1}})));
  EXPECT_FALSE(passes(told, row({{5, 7}, {9, 1}})));
  EXPECT_FALSE(passes(told, row({{2, 4}, {5, 7}, {9, 2}})));
}

TEST_F(KeyPatternTest, ExactlyTheseKeysAreMasks) {
  const ScanHint told = hint({any_of(5, {1, 2}), present(9)}, 2);
  ASSERT_EQ(told.row_masks.size(), 2U);
  EXPECT_TRUE(told.row_regex.empty());
  EXPECT_TRUE(passes(told, row({{5, 1}, {9, 77}})));
  EXPECT_TRUE(passes(told, row({{5, 2}, {9, 1}})));
  EXPECT_FALSE(passes(told, row({{5, 3}, {9, 1}})));
  EXPECT_FALSE(passes(told, row({{2, 1}, {5, 1}, {9, 1}})));
  EXPECT_FALSE(passes(told, row({{5, 1}})));
}

TEST_F(KeyPatternTest, FewRowsAreJumpedToBehindEverySetOfKeysThatCanStandBefore) {
  const ScanHint told = hint({any_of(3, {7})}, std::nullopt, true);
  ASSERT_EQ(told.row_masks.size(), 4U);
  EXPECT_TRUE(told.row_regex.empty());
  EXPECT_TRUE(passes(told, row({{3, 7}})));
  EXPECT_TRUE(passes(told, row({{1, 4}, {3, 7}, {9, 9}})));
  EXPECT_TRUE(passes(told, row({{1, 4}, {2, 5}, {3, 7}})));
  EXPECT_FALSE(passes(told, row({{1, 4}, {2, 5}})));
  EXPECT_FALSE(passes(told, row({{2, 5}, {3, 8}})));
  EXPECT_FALSE(passes(told, row({{4, 7}})));
}

TEST_F(KeyPatternTest, AKeyThatHasToBeThereIsInEveryMask) {
  const ScanHint told = hint({present(1), any_of(3, {7})}, std::nullopt, true);
  ASSERT_EQ(told.row_masks.size(), 2U);
  EXPECT_TRUE(passes(told, row({{1, 4}, {2, 5}, {3, 7}})));
  EXPECT_FALSE(passes(told, row({{2, 5}, {3, 7}})));
}

TEST_F(KeyPatternTest, FewRowsBehindTooManySetsOfKeysAreARegularExpression) {
  const ScanHint far = hint({any_of(8, {7})}, std::nullopt, true);
  EXPECT_THAT(far.row_masks, testing::IsEmpty());
  EXPECT_FALSE(passes(far, row({{8, 6}})));
  const ScanHint near = hint({any_of(2, {1}), any_of(200, {7})}, std::nullopt, true);
  EXPECT_EQ(near.row_masks.size(), 2U);  // up to the first
  EXPECT_TRUE(passes(near, row({{2, 1}, {200, 7}})));
  EXPECT_FALSE(passes(near, row({{2, 2}, {200, 7}})));
  const ScanHint unnamed = hint({present(2)}, std::nullopt, true);
  EXPECT_THAT(unnamed.row_masks, testing::IsEmpty());
}

TEST_F(KeyPatternTest, TooManyMasksAreARegularExpression) {
  limits_.masks_max = 3;
  const ScanHint told = hint({any_of(5, {1, 2}), any_of(9, {1, 2})}, 2);
  EXPECT_THAT(told.row_masks, testing::IsEmpty());
  EXPECT_TRUE(passes(told, row({{5, 1}, {9, 2}})));
  EXPECT_FALSE(passes(told, row({{5, 1}, {9, 3}})));
  EXPECT_FALSE(passes(told, row({{5, 1}, {7, 1}, {9, 2}})));
}

TEST_F(KeyPatternTest, TooManyValuesAreAnyValue) {
  limits_.values_max = 2;
  const ScanHint at_most = hint({any_of(5, {1, 2})});
  EXPECT_FALSE(passes(at_most, row({{5, 4}})));
  const ScanHint above = hint({any_of(5, {1, 2, 3})});
  EXPECT_TRUE(passes(above, row({{5, 4}})));
  EXPECT_FALSE(passes(above, row({{6, 1}})));
}

TEST_F(KeyPatternTest, NothingIsToldWhereIdsDoNotDecide) {
  TagKeyMatcher absent(5);
  absent.want_absent();
  const ScanHint told = hint({absent});
  EXPECT_TRUE(told.row_masks.empty() && told.row_regex.empty());
  EXPECT_TRUE(hint({}).row_regex.empty());
}

// Of every layout and width: what is wanted passes, and where values are named nothing else does.
TEST_F(KeyPatternTest, RefusesNothingThatIsWanted) {
  std::vector<std::unique_ptr<RowLayout>> layouts;
  layouts.push_back(OpentsdbLayout::make({}).value());
  layouts.push_back(
      OpentsdbLayout::make({.widths = {4, 2, 1}, .salt_width = 2, .salt_buckets = 20}).value());
  layouts.push_back(OpentsdbLayout::make({.widths = {1, 1, 1}}).value());
  for (std::unique_ptr<RowLayout>& layout : layouts) {
    layout_ = std::move(layout);
    std::mt19937_64 random(1);
    // Line ends, quotes and backslashes are bytes like others.
    const std::vector<std::uint64_t> ids = {1, 2, 10, 13, 34, 36, 46, 92, 125, 133, 254, 255};
    const auto one = [&] { return ids[random() % ids.size()]; };
    for (int i = 0; i < 2000; ++i) {
      Tags tags;
      for (std::uint64_t n = random() % 5; n > 0; --n) tags[one()] = one();
      std::map<std::uint64_t, std::vector<std::uint64_t>> wanted;
      for (std::uint64_t n = 1 + random() % 3; n > 0; --n) wanted[one()] = {one(), one(), one()};
      std::vector<TagKeyMatcher> matchers;
      for (auto& [key, values] : wanted) matchers.push_back(any_of(key, values));
      std::ranges::shuffle(matchers, random);
      const bool exactly = random() % 2 == 0;
      bool matches = !exactly || tags.size() == wanted.size();
      for (const auto& [key, values] : wanted) {
        const auto tag = tags.find(key);
        matches =
            matches && tag != tags.end() && std::ranges::find(values, tag->second) != values.end();
      }
      const auto told =
          hint(matchers, exactly ? std::optional(wanted.size()) : std::nullopt, random() % 2 == 0);
      const bool passed = passes(told, row(tags));
      // A mask does not look at what comes behind it.
      if (matches || told.row_masks.empty()) EXPECT_EQ(passed, matches) << to_hex(row(tags));
    }
  }
}

}  // namespace
}  // namespace halite::storage
