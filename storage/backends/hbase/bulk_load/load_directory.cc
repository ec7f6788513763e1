#include "storage/backends/hbase/bulk_load/load_directory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/hbase/bulk_load/web_hdfs.h"
#include "storage/files/files.h"

namespace halite::storage::hbase {
namespace {

constexpr std::string_view kLocal = "file://";
constexpr std::string_view kWebHdfs = "webhdfs://";
constexpr std::uint16_t kNameNodePort = 9870;
constexpr const char* kWanted = "expected file:///DIR or webhdfs://NAMENODE[:9870][,...]/DIR";

// The name of an unfinished file begins with `_`, which HBase's own tools skip.
std::string temporary(const std::string& path) {
  return dir_of(path) + "/_" + name_of(path) + ".tmp";
}

// Region servers act as the user of the request, not as the one of this process.
Result<void> open_to_all(const std::string& path, unsigned mode) {
  std::error_code error;
  std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode), error);
  if (!error) return {};
  return fail(Errc::kForbidden,
              fmt::format("cannot set the mode of {} to {:o}: {}", path, mode, error.message()));
}

class LocalFile final : public LoadFileWriter {
 public:
  LocalFile(FileSystem& files, std::unique_ptr<File> file, std::string path)
      : files_(files), file_(std::move(file)), path_(std::move(path)) {}

  Task<void> write(Bytes bytes) override { co_return file_->append(bytes); }
  Task<void> finish() override {
    CO_TRY_VOID(open_to_all(temporary(path_), 0666));
    CO_TRY_VOID(file_->sync());
    CO_TRY_VOID(files_.rename(temporary(path_), path_));
    co_return files_.sync_dir(dir_of(path_));
  }

 private:
  FileSystem& files_;
  const std::unique_ptr<File> file_;
  const std::string path_;
};

class LocalDirectory final : public LoadDirectory {
 public:
  LocalDirectory(FileSystem& files, std::string dir) : files_(files), dir_(std::move(dir)) {}

  Task<void> make(std::string name) override {
    const std::string path = dir_ + "/" + name;
    CO_TRY_VOID(make_dirs(files_, path));
    co_return open_to_all(path, 0777);
  }
  [[nodiscard]] std::string path_of(std::string_view name, std::string_view file) const override {
    return fmt::format("{}/{}/{}", dir_, name, file);
  }
  // Hadoop writes file:/DIR and file:///DIR.
  [[nodiscard]] std::optional<std::string> path_in(std::string_view url) const override {
    constexpr std::string_view kScheme = "file:";
    if (!url.starts_with(kScheme)) return std::nullopt;
    url.remove_prefix(kScheme.size());
    if (url.starts_with("//")) url.remove_prefix(2);
    return std::string(url);
  }
  [[nodiscard]] std::string url_of(const std::string& path) const override {
    return std::string(kLocal) + path;
  }

  Task<std::unique_ptr<LoadFileWriter>> create(std::string path) override {
    CO_TRY(std::unique_ptr<File> file, files_.open(temporary(path), OpenFile::kReplace));
    co_return std::make_unique<LocalFile>(files_, std::move(file), std::move(path));
  }
  Task<bool> exists(std::string path) override {
    CO_TRY(const FileKind kind, files_.kind(path));
    co_return kind != FileKind::kNone;
  }
  Task<bool> rename(std::string from, std::string to) override {
    CO_TRY(const FileKind there, files_.kind(to));
    if (there != FileKind::kNone) co_return false;
    const Result<void> renamed = files_.rename(from, to);
    if (!renamed && renamed.error().code == Errc::kNotFound) co_return false;
    CO_TRY_VOID(renamed);
    co_return true;
  }
  Task<void> remove(std::string path) override {
    for (const std::string& name : {path, temporary(path)}) {
      const Result<void> removed = files_.remove(name);
      if (!removed && removed.error().code != Errc::kNotFound) co_return removed;
    }
    co_return Result<void>();
  }

 private:
  FileSystem& files_;
  const std::string dir_;
};

Result<Endpoint> name_node_from(std::string_view text) {
  Endpoint node{std::string(text), kNameNodePort};
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    node.host = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), node.port);
    if (error != std::errc() || end != port.data() + port.size() || node.port == 0) {
      return fail(Errc::kInvalidArgument, fmt::format("bad port \"{}\"; {}", port, kWanted));
    }
  }
  if (node.host.empty()) {
    return fail(Errc::kInvalidArgument, fmt::format("no host of a NameNode; {}", kWanted));
  }
  return node;
}

}  // namespace

Result<std::unique_ptr<LoadDirectory>> open_load_directory(std::string_view url, FileSystem& files,
                                                           LoadDirectoryOptions options) {
  const bool local = url.starts_with(kLocal);
  if (!local && !url.starts_with(kWebHdfs)) {
    const bool hdfs = url.starts_with("hdfs://") || url.starts_with("swebhdfs://");
    return fail(hdfs ? Errc::kUnsupported : Errc::kInvalidArgument,
                fmt::format("cannot write files for HBase to \"{}\"; {}{}", url, kWanted,
                            hdfs ? " with the NameNode's HTTP port" : ""));
  }
  std::string_view rest = url.substr(local ? kLocal.size() : kWebHdfs.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view dir = rest.substr(slash);
  while (dir.ends_with('/')) dir.remove_suffix(1);
  if (dir.empty() || dir.contains('?') || dir.contains('#') || (local && slash != 0)) {
    return fail(Errc::kInvalidArgument, fmt::format("no directory in \"{}\"; {}", url, kWanted));
  }
  if (local) return std::make_unique<LocalDirectory>(files, std::string(dir));
  std::vector<Endpoint> name_nodes;
  for (std::string_view nodes = rest.substr(0, slash);;) {
    const std::size_t comma = std::min(nodes.find(','), nodes.size());
    TRY(Endpoint node, name_node_from(nodes.substr(0, comma)));
    name_nodes.push_back(std::move(node));
    if (comma == nodes.size()) break;
    nodes.remove_prefix(comma + 1);
  }
  return make_web_hdfs(std::move(name_nodes), std::string(dir), std::move(options));
}

}  // namespace halite::storage::hbase
