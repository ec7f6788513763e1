// Answers the questions of .bytes files; bytes_test.cc lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/text/bytes_text.h"
#include "tests/text/log_questions.h"

namespace halite::storage::bytes_text {

using Words = std::span<const std::string>;
using Lines = std::vector<std::string>;

class Questions {
 public:
  // Throws std::runtime_error for a question that is none.
  [[nodiscard]] Lines answer(std::string_view line);

 private:
  [[nodiscard]] const OpentsdbLayout& opentsdb() const;
  [[nodiscard]] Lines place(BytesView row, const PointCell& cell) const;

  [[nodiscard]] Lines layout(Words words);
  [[nodiscard]] Lines put(Words words) const;
  [[nodiscard]] Lines compact(Words words) const;
  [[nodiscard]] Lines append(Words words) const;
  [[nodiscard]] Lines row(Words words) const;
  [[nodiscard]] Lines read(Words words) const;
  [[nodiscard]] Lines metric(Words words) const;
  [[nodiscard]] Lines series(Words words) const;
  [[nodiscard]] Lines scans(const std::vector<BucketScan>& scans) const;
  [[nodiscard]] Lines annotation(Words words) const;
  [[nodiscard]] Lines unhistogram(Words words) const;
  [[nodiscard]] Lines rollup(Words words) const;
  [[nodiscard]] Lines unrollup(Words words) const;

  Layouts layouts_;
  LogQuestions log_;
  TimestampMs now_ = 0;
};

}  // namespace halite::storage::bytes_text
