#include "tests/text/answers_file.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

namespace halite {
namespace {

namespace fs = std::filesystem;

Lines lines_of(const fs::path& path) {
  std::ifstream in(path);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace

bool is_answer(std::string_view line) { return line.starts_with("  "); }

std::vector<fs::path> answers_files(std::string_view folder, std::string_view extension) {
  std::vector<fs::path> paths;
  for (const auto& entry :
       fs::directory_iterator(fs::path(HALITE_SOURCE_DIR "/tests/text") / folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

void check_answers_file(const fs::path& path, const std::function<Lines(const Lines&)>& answered) {
  const Lines lines = lines_of(path);
  const Lines wanted = answered(lines);
  ASSERT_TRUE(std::ranges::any_of(wanted, is_answer)) << "a file without an answer tests nothing";
  if (std::getenv("HALITE_UPDATE") != nullptr && wanted != lines) {
    std::ofstream(path) << joined(wanted);
    return;
  }
  EXPECT_EQ(joined(lines), joined(wanted));
}

}  // namespace halite
