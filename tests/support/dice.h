// Random cases of property tests, of which each can be made again.
//
//   HALITE_PROPERTY_CASES  how many
//   HALITE_PROPERTY_SEED   makes other cases of the same numbers: a number, or `random` for one
//   that
//                          the test prints
//   HALITE_PROPERTY_FIRST  the number of the first case
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

namespace halite::test {

inline int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

inline std::uint64_t chosen_seed() {
  const char* text = std::getenv("HALITE_PROPERTY_SEED");
  if (text == nullptr) return 0;
  if (std::string_view(text) != "random") return std::strtoull(text, nullptr, 10);
  return std::random_device{}();
}

struct Dice {
  std::mt19937_64 random;
  explicit Dice(std::uint64_t seed) : random(seed) {}
  std::int64_t upto(std::int64_t max) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max + 1));
  }
  bool one_in(int n) { return upto(n - 1) == 0; }
  template <class T>
  T of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(upto(static_cast<std::int64_t>(choices.size()) - 1))];
  }
};

}  // namespace halite::test
