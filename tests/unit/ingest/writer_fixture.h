// A Writer over a fake store, for the tests of both its doors.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "ingest/writer.h"
#include "tests/support/fake_point_store.h"
#include "tests/support/run_task.h"

namespace halite::ingest {

inline Error error_of(Errc code, std::string message) {
  return {.code = code, .message = std::move(message), .details = {}};
}

struct WriterFixture {
  explicit WriterFixture(IngestOptions options = {})
      : writer(store, clock, std::move(options), registry) {}

  // The metric's value, labels given as {"protocol=telnet", ...}; -1: there is none.
  [[nodiscard]] double metric(const std::string& name,
                              std::initializer_list<std::string_view> labels = {}) const {
    for (const auto& family : registry.Collect()) {
      if (family.name != name) continue;
      for (const auto& one : family.metric) {
        std::size_t matching = 0;
        for (const auto& label : one.label) {
          const std::string text = label.name + "=" + label.value;
          matching += static_cast<std::size_t>(std::ranges::count(labels, text));
        }
        if (matching != labels.size()) continue;
        return one.counter.value != 0 ? one.counter.value : one.gauge.value;
      }
    }
    return -1;
  }

  // "m 1000 1 host=a" for each point stored: time in ms, value as a number.
  [[nodiscard]] std::vector<std::string> stored() const {
    std::vector<std::string> texts;
    for (const auto& point : store.points()) {
      std::string text = fmt::format("{} {} ", point.series.metric, point.time);
      if ((point.flags & kFloat) != 0) {
        text += fmt::format("{}", as_double(point.value));
      } else {
        text += fmt::format("{}", as_integer(point.value));
      }
      for (const Tag& tag : point.series.tags) text += fmt::format(" {}={}", tag.key, tag.value);
      texts.push_back(std::move(text));
    }
    return texts;
  }

  test::FakePointStore store;
  FakeClock clock{1'500'000'000'000};
  prometheus::Registry registry;
  Writer writer;
};

// For fuzzers: one for many inputs, as making it takes longer than what it is asked, and so does
// making it forget what it has not got. It knows no series, as if it were new.
inline WriterFixture& fixture_without_series(const IngestOptions& options) {
  static constexpr int kInputsMax = 4096;  // then what its store remembers goes
  static std::unique_ptr<WriterFixture> fixture;
  static int inputs = 0;
  static std::size_t interns = 0;  // when it knew none
  if (inputs++ % kInputsMax == 0) {
    fixture = std::make_unique<WriterFixture>(options);
    interns = 0;
  }
  if (fixture->store.intern_calls() != interns) fixture->writer.clear_series_cache();
  interns = fixture->store.intern_calls();
  return *fixture;
}

}  // namespace halite::ingest
