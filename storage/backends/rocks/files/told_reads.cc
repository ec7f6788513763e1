#include "storage/backends/rocks/files/told_reads.h"

#include <cstdint>
#include <string>
#include <utility>

namespace halite::storage::rocks {
namespace {

class ToldFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  ToldFile(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, const ReadTold& told)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), told_(told) {}

  rocksdb::IOStatus Read(std::uint64_t offset, std::size_t bytes, const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* debug) const override {
    if (!told_(bytes)) return rocksdb::IOStatus::Aborted("stopped");
    return FSRandomAccessFileOwnerWrapper::Read(offset, bytes, options, result, scratch, debug);
  }
  rocksdb::IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count,
                              const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += requests[i].len;
    if (!told_(bytes)) return rocksdb::IOStatus::Aborted("stopped");
    return FSRandomAccessFileOwnerWrapper::MultiRead(requests, count, options, debug);
  }

 private:
  const ReadTold& told_;  // of the file system, which outlives it
};

class ToldFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  ToldFileSystem(const std::shared_ptr<rocksdb::FileSystem>& files, ReadTold told)
      : FileSystemWrapper(files), told_(std::move(told)) {}

  const char* Name() const override { return "halite.told-reads"; }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    rocksdb::IOStatus opened = target()->NewRandomAccessFile(path, options, &file, debug);
    if (opened.ok()) *result = std::make_unique<ToldFile>(std::move(file), told_);
    return opened;
  }

 private:
  const ReadTold told_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> tell_reads(const std::shared_ptr<rocksdb::FileSystem>& files,
                                                ReadTold told) {
  return std::make_shared<ToldFileSystem>(files, std::move(told));
}

}  // namespace halite::storage::rocks
