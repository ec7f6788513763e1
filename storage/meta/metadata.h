// Everything that is said about names, series and times, opened together: annotations, UIDMeta,
// TSMeta.
//
//   auto metadata = co_await Metadata::open(parts, options);
//   ...
//   co_await metadata->stop();
//
//   Lifetime  the wide-column store and the names table outlive it.
//   Threads   any call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/task.h"
#include "storage/meta/annotation_store.h"
#include "storage/meta/ts_meta_store.h"
#include "storage/meta/uid_meta.h"
#include "storage/schema/uid_table.h"
#include "storage/wide_column.h"

namespace halite::storage {

struct MetadataOptions {
  std::string annotation_table = "halite-annotations";
  std::string uid_table = "tsdb-uid";
  std::string meta_table = "tsdb-meta";
  AnnotationOptions annotations;
};

class Metadata {
 public:
  struct Parts {
    WideColumnStore& store;
    UidTable& uids;  // over options.uid_table
    UidWidths widths;
  };
  static Task<std::unique_ptr<Metadata>> open(Parts parts, MetadataOptions options);

  [[nodiscard]] AnnotationStore& annotations() { return annotations_; }
  [[nodiscard]] UidMetaStore& uid_metas() { return uid_metas_; }
  [[nodiscard]] TsMetaStore& ts_metas() { return ts_metas_; }
  [[nodiscard]] UidTable& uids() { return uids_; }
  [[nodiscard]] const UidWidths& widths() const { return widths_; }

 private:
  struct Tables {
    std::shared_ptr<Table> annotations;
    std::shared_ptr<Table> names;
    std::shared_ptr<Table> series;
  };
  Metadata(Parts parts, MetadataOptions options, Tables tables,
           std::shared_ptr<const OpentsdbLayout> layout);

  UidTable& uids_;
  const UidWidths widths_;
  AnnotationStore annotations_;
  UidMetaStore uid_metas_;
  TsMetaStore ts_metas_;
};

}  // namespace halite::storage
