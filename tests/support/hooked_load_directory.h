// A directory for bulk loads that passes all calls on, and calls a hook before a file is finished.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "storage/backends/hbase/bulk_load/load_directory.h"

namespace halite::test {

class HookedLoadDirectory final : public storage::hbase::LoadDirectory {
 public:
  // An error of the hook is that of the file. It may be empty, and may change; it outlives the
  // directory.
  using Hook = std::function<Result<void>()>;
  HookedLoadDirectory(std::shared_ptr<LoadDirectory> to, Hook& hook)
      : to_(std::move(to)), hook_(hook) {}

  Task<void> make(std::string name) override { return to_->make(std::move(name)); }
  [[nodiscard]] std::string path_of(std::string_view name, std::string_view file) const override {
    return to_->path_of(name, file);
  }
  [[nodiscard]] std::optional<std::string> path_in(std::string_view url) const override {
    return to_->path_in(url);
  }
  [[nodiscard]] std::string url_of(const std::string& path) const override {
    return to_->url_of(path);
  }
  Task<std::unique_ptr<storage::hbase::LoadFileWriter>> create(std::string path) override {
    CO_TRY(auto file, co_await to_->create(std::move(path)));
    co_return std::make_unique<Writer>(std::move(file), hook_);
  }
  Task<bool> exists(std::string path) override { return to_->exists(std::move(path)); }
  Task<bool> rename(std::string from, std::string to) override {
    return to_->rename(std::move(from), std::move(to));
  }
  Task<void> remove(std::string path) override { return to_->remove(std::move(path)); }

 private:
  class Writer final : public storage::hbase::LoadFileWriter {
   public:
    Writer(std::unique_ptr<LoadFileWriter> to, Hook& hook) : to_(std::move(to)), hook_(hook) {}
    Task<void> write(Bytes bytes) override { return to_->write(std::move(bytes)); }
    Task<void> finish() override {
      if (hook_) CO_TRY_VOID(hook_());
      co_return co_await to_->finish();
    }

   private:
    const std::unique_ptr<LoadFileWriter> to_;
    Hook& hook_;
  };

  const std::shared_ptr<LoadDirectory> to_;
  Hook& hook_;
};

}  // namespace halite::test
