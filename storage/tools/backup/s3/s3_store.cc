#include "storage/tools/backup/s3/s3_store.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"
#include "common/log.h"
#include "storage/tools/backup/manifest.h"
#include "storage/tools/backup/s3/s3_lock.h"

namespace halite::storage::backup {
namespace {

constexpr std::uint64_t kPartsMax = 10'000;  // S3's limit of an object

// Whether Halite writes objects of this name. Others may be of another program in the bucket.
bool is_own(std::string_view name) {
  constexpr std::string_view kContents = "files/";
  if (name.starts_with(kContents)) return ContentId::is_name(name.substr(kContents.size()));
  return name.ends_with(kManifestEnd) && name.find('/') == std::string_view::npos;
}

class S3Writer final : public ObjectWriter {
 public:
  S3Writer(S3Client& client, std::string key, std::uint64_t bytes)
      : client_(client),
        bytes_(bytes),
        part_bytes_(std::max(client.options().part_bytes, bytes / kPartsMax + 1)),
        upload_{.key = std::move(key), .id = {}} {}

  ~S3Writer() override {
    if (upload_.id.empty()) return;
    const Result<void> aborted = client_.remove_upload_last(upload_);
    if (!aborted) log::warn("an unfinished upload stays: {}", aborted.error().message);
  }
  S3Writer(const S3Writer&) = delete;

  Result<void> append(BytesView bytes) override {
    while (!bytes.empty()) {
      if (buffer_.size() == part_bytes_) TRY_VOID(put_part());
      const BytesView more = bytes.substr(0, part_bytes_ - buffer_.size());
      buffer_ += more;
      bytes.remove_prefix(more.size());
    }
    return {};
  }

  Result<void> finish() override {
    HALITE_CHECK(written_ + buffer_.size() == bytes_, "an object has another size than announced");
    if (upload_.id.empty()) return client_.put(upload_.key, buffer_);
    TRY_VOID(put_part());
    TRY_VOID(client_.complete(upload_, etags_, bytes_));
    upload_.id.clear();
    return {};
  }

 private:
  Result<void> put_part() {
    if (upload_.id.empty()) {
      TRY(upload_.id, client_.begin_upload(upload_.key));
    }
    const auto number = static_cast<std::uint32_t>(etags_.size() + 1);
    TRY(std::string etag, client_.put_part(upload_, number, buffer_));
    etags_.push_back(std::move(etag));
    written_ += buffer_.size();
    buffer_.clear();
    return {};
  }

  S3Client& client_;
  const std::uint64_t bytes_;
  const std::uint64_t part_bytes_;
  UnfinishedUpload upload_;  // without an id until a second part begins
  std::vector<std::string> etags_;
  Bytes buffer_;               // of the next part
  std::uint64_t written_ = 0;  // in parts
};

}  // namespace

Result<std::unique_ptr<S3Store>> S3Store::make(S3Options options) {
  TRY(std::unique_ptr<S3Client> client, S3Client::make(std::move(options)));
  return std::unique_ptr<S3Store>(new S3Store(std::move(client)));
}

std::string S3Store::place(const std::string& name) const {
  return name.empty() ? url().text() : fmt::format("s3://{}/{}", url().bucket, url().key(name));
}

Result<std::unique_ptr<StoreLock>> S3Store::lock() { return lock_s3(*client_); }

Result<std::vector<StoredObject>> S3Store::list(const std::string& folder) {
  const std::string base = url().key("");
  TRY(const std::vector<ListedObject> found,
      client_->list(folder.empty() ? base : base + folder + "/", true));
  std::vector<StoredObject> objects;
  for (const ListedObject& object : found) {
    objects.push_back({.name = object.key.substr(base.size()), .bytes = object.bytes});
  }
  return objects;
}

Result<void> S3Store::read(const StoredObject& object, const TakeBytes& take) {
  const std::string key = url().key(object.name);
  std::uint64_t at = 0;
  do {
    const ByteRange range{.begin = at,
                          .end = std::min(at + client_->options().part_bytes, object.bytes)};
    TRY(const Bytes bytes, client_->read(key, range, object.bytes));
    TRY_VOID(take(bytes));
    at = range.end;
  } while (at < object.bytes);
  return {};
}

Result<std::unique_ptr<ObjectWriter>> S3Store::create(const StoredObject& object) {
  return std::make_unique<S3Writer>(*client_, url().key(object.name), object.bytes);
}

Result<void> S3Store::remove(const std::string& name) { return client_->remove(url().key(name)); }

Result<void> S3Store::withdraw(const std::string& name) {
  Result<void> removed = remove(name);
  if (removed || removed.error().code != Errc::kCancelled) return removed;
  return client_->remove_last(url().key(name));
}

Result<void> S3Store::remove_unfinished() {
  TRY(const std::vector<UnfinishedUpload> uploads, client_->unfinished_uploads(url().key("")));
  for (const UnfinishedUpload& upload : uploads) {
    if (is_own(upload.key.substr(url().key("").size()))) TRY_VOID(client_->remove_upload(upload));
  }
  return {};
}

}  // namespace halite::storage::backup
