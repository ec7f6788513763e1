// Files of questions and answers: a line in the first column asks, the indented lines under it
// answer. HALITE_UPDATE=1 writes the answers that the code gives: read that diff like code.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace halite {

using Lines = std::vector<std::string>;

[[nodiscard]] bool is_answer(std::string_view line);

// The files of a folder in tests/text with this extension, sorted.
[[nodiscard]] std::vector<std::filesystem::path> answers_files(std::string_view folder,
                                                               std::string_view extension);

// Fails unless the file is what `answered` makes of its lines, and has an answer.
void check_answers_file(const std::filesystem::path& path,
                        const std::function<Lines(const Lines&)>& answered);

}  // namespace halite
