// The seeds and steps of model tests.
//
//   HALITE_SEED         runs this seed only
//   HALITE_MODEL_SEEDS  adds this number of random seeds
//   HALITE_MODEL_STEPS  the number of steps with each seed
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace halite::test {

// The number in an environment variable.
inline int number_from(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

inline int model_steps(int otherwise) { return number_from("HALITE_MODEL_STEPS", otherwise); }

inline std::vector<std::uint32_t> model_seeds() {
  if (const char* seed = std::getenv("HALITE_SEED")) {
    return {static_cast<std::uint32_t>(std::strtoul(seed, nullptr, 10))};
  }
  std::vector<std::uint32_t> seeds = {1, 2, 3};
  std::random_device device;
  for (int i = number_from("HALITE_MODEL_SEEDS", 0); i > 0; --i) seeds.push_back(device());
  return seeds;
}

}  // namespace halite::test
