// The questions of .bytes files about the log; bytes_test.cc lists them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"

namespace halite::storage::bytes_text {

// Builds a segment piece by piece and reads it back.
class LogQuestions {
 public:
  // The words after "log". Throws std::runtime_error for a question that is none.
  [[nodiscard]] std::vector<std::string> answer(std::span<const std::string> words);

 private:
  using Words = std::span<const std::string>;
  using Lines = std::vector<std::string>;

  [[nodiscard]] Lines segment(Words words);
  [[nodiscard]] Lines group(Words words, std::uint64_t number);
  [[nodiscard]] Lines read() const;

  std::uint64_t salt_ = 0;
  std::uint64_t number_ = 0;
  Bytes segment_;
};

}  // namespace halite::storage::bytes_text
