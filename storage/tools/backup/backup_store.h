// Where the objects of a backup repository are: a directory, or a bucket of an S3 store. Objects
// have names with at most one '/': "20261123T001500.000Z.manifest", "files/<hash>-<bytes>".
//
//   Atomic   An object has all its bytes or does not exist.
//   Durable  An object is durable when its writer has finished.
//   Threads  one thread at a time; blocks.
//   Errors   kNotFound: no such object. kCorruption: it has another size than was listed.
//            kConflict: another writer holds the lock. kUnauthenticated, kForbidden,
//            kInvalidArgument: the settings or credentials are wrong. Others may pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"

namespace halite::storage::backup {

struct StoredObject {
  std::string name;
  std::uint64_t bytes = 0;
  bool operator==(const StoredObject&) const = default;
};

// Receives the bytes of an object, in order. An error ends the work.
using TakeBytes = std::function<Result<void>(BytesView bytes)>;

// Writes one object. The object exists once finish() has returned; without it, nothing is written.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  virtual Result<void> append(BytesView bytes) = 0;
  virtual Result<void> finish() = 0;  // once, after the last append()
};

// The right to write. The destructor releases it.
class StoreLock {
 public:
  virtual ~StoreLock() = default;
  // Renews the lock once a minute. Call it after each piece of work, and before a manifest is
  // written. A lock that is not kept for minutes becomes void. kConflict: another writer has taken
  // the lock, or could have taken it.
  virtual Result<void> keep() = 0;
  // Looks at once whether the lock has been held without a gap. Call it after a manifest is
  // written. Errors as keep().
  virtual Result<void> confirm() = 0;
};

class BackupStore {
 public:
  virtual ~BackupStore() = default;

  // Makes the store ready for writes, which only one process at a time may do. kConflict: another
  // one holds the lock. The store outlives it.
  virtual Result<std::unique_ptr<StoreLock>> lock() = 0;

  // The objects of "files", or those without a '/' of "", sorted by name. Includes objects that are
  // not of Halite.
  virtual Result<std::vector<StoredObject>> list(const std::string& folder) = 0;
  virtual Result<void> read(const StoredObject& object, const TakeBytes& take) = 0;
  // Replaces an existing object. The writer must not outlive the store. What it is given must be
  // as long as object.bytes says.
  virtual Result<std::unique_ptr<ObjectWriter>> create(const StoredObject& object) = 0;
  virtual Result<void> remove(const std::string& name) = 0;
  // As remove(), but also after the end of the work.
  virtual Result<void> withdraw(const std::string& name) = 0;
  // Removes what interrupted writers left. The caller holds the lock.
  virtual Result<void> remove_unfinished() = 0;

  // How messages name the store, or an object in it: "/mnt/backups/files/...".
  [[nodiscard]] virtual std::string place(const std::string& name = {}) const = 0;
};

}  // namespace halite::storage::backup
