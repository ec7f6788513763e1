#include "storage/backends/rocks/files/read_hook.h"

#include <cstdint>
#include <string>
#include <utility>

namespace halite::storage::rocks {
namespace {

class HookedFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  HookedFile(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, const ReadHook& hook)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), hook_(hook) {}

  rocksdb::IOStatus Read(std::uint64_t offset, std::size_t bytes, const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* debug) const override {
    if (!hook_(bytes)) return rocksdb::IOStatus::Aborted("stopped");
    return FSRandomAccessFileOwnerWrapper::Read(offset, bytes, options, result, scratch, debug);
  }
  rocksdb::IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count,
                              const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += requests[i].len;
    if (!hook_(bytes)) return rocksdb::IOStatus::Aborted("stopped");
    return FSRandomAccessFileOwnerWrapper::MultiRead(requests, count, options, debug);
  }

 private:
  const ReadHook& hook_;  // owned by the file system, which outlives this
};

class HookedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  HookedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& files, ReadHook hook)
      : FileSystemWrapper(files), hook_(std::move(hook)) {}

  const char* Name() const override { return "halite.told-reads"; }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    rocksdb::IOStatus opened = target()->NewRandomAccessFile(path, options, &file, debug);
    if (opened.ok()) *result = std::make_unique<HookedFile>(std::move(file), hook_);
    return opened;
  }

 private:
  const ReadHook hook_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> hook_reads(const std::shared_ptr<rocksdb::FileSystem>& files,
                                                ReadHook hook) {
  return std::make_shared<HookedFileSystem>(files, std::move(hook));
}

}  // namespace halite::storage::rocks
