// Runs a fuzz target over the seed files of the folders given, then over mutations of them. The
// same seeds make the same inputs, in the same order, in every run. `program FILE` replays one
// input.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutations = 20'000;
// An unoptimized build of a slow parser does not come to so many in a reasonable time.
constexpr std::chrono::seconds kTimeMax{15};
constexpr std::size_t kInputBytesMax = 1 << 16;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void run(const std::string& input) {
  // A copy of its exact size, so that AddressSanitizer sees a read past the end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// One to four small changes: a bit, a byte, a piece removed, doubled, or taken from another seed.
std::string mutate(std::string input, const std::vector<std::string>& seeds,
                   std::minstd_rand& random) {
  using namespace std::string_view_literals;
  static constexpr std::string_view kTelling = "\0\n\r\t \"\\{}[]:,.-+=/*|0919eE\x7F\x80\xFF"sv;
  for (std::size_t changes = 1 + random() % 4; changes > 0; --changes) {
    const std::size_t at = input.empty() ? 0 : random() % input.size();
    const std::size_t length = std::min<std::size_t>(1 + random() % 16, input.size() - at);
    switch (random() % 6) {
      case 0:
        if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << random() % 8));
        break;
      case 1:
        if (!input.empty()) input[at] = kTelling[random() % kTelling.size()];
        break;
      case 2:
        input.insert(at, 1, kTelling[random() % kTelling.size()]);
        break;
      case 3:
        input.erase(at, length);
        break;
      case 4:
        input.insert(at, std::string(input, at, length));
        break;
      default: {
        const std::string& other = seeds[random() % seeds.size()];
        const std::size_t from = other.empty() ? 0 : random() % other.size();
        input.insert(at, other, from, 1 + random() % 32);
      }
    }
  }
  if (input.size() > kInputBytesMax) input.resize(kInputBytesMax);
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::filesystem::is_regular_file(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  if (files.empty()) {
    std::cerr << "no seeds: " << (argc > 1 ? argv[1] : "name a folder or a file") << '\n';
    return 2;
  }
  std::vector<std::string> seeds;
  seeds.reserve(files.size());
  for (const std::filesystem::path& file : files) seeds.push_back(read_file(file));
  for (const std::string& seed : seeds) run(seed);
  if (argc == 2 && std::filesystem::is_regular_file(argv[1])) return 0;
  std::minstd_rand random(1);
  const auto end = std::chrono::steady_clock::now() + kTimeMax;
  int mutations = 0;
  for (; mutations < kMutations && std::chrono::steady_clock::now() < end; ++mutations) {
    run(mutate(seeds[random() % seeds.size()], seeds, random));
  }
  std::cout << seeds.size() << " seeds, " << mutations << " mutations\n";
  return 0;
}
