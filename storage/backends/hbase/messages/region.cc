#include "storage/backends/hbase/messages/region.h"

#include <charconv>
#include <utility>

#include "storage/backends/hbase/messages/table_message.h"
#include "storage/backends/hbase/proto/rpc.pb.h"

namespace halite::storage::hbase {

namespace {

constexpr BytesView kMark = "PBUF";

void read_region_info(Region& region, bool& gone, BytesView value) {
  pb::RegionInfo info;
  if (!value.starts_with(kMark)) return;
  value.remove_prefix(kMark.size());
  if (!info.ParseFromArray(value.data(), static_cast<int>(value.size()))) return;
  region.table = table_text(info.table_name());
  region.begin = info.start_key();
  region.end = info.end_key();
  region.id = info.region_id();
  gone = info.split() || info.offline() || info.replica_id() != 0;
}

}  // namespace

std::optional<Endpoint> endpoint_from(BytesView text) {
  const std::size_t colon = text.rfind(':');
  if (colon == BytesView::npos || colon == 0) return std::nullopt;
  const BytesView digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (problem != std::errc() || stop != digits.data() + digits.size() || port == 0) {
    return std::nullopt;
  }
  return Endpoint{std::string(text.substr(0, colon)), port};
}

MetaRow read_meta_row(BytesView key, const std::vector<CellView>& cells) {
  MetaRow row;
  row.key = key;
  Region region;
  region.name = key;
  bool gone = false;
  for (const CellView& cell : cells) {
    if (cell.family != "info") continue;
    if (cell.qualifier == "regioninfo") {
      read_region_info(region, gone, cell.value);
    } else if (cell.qualifier == "server") {
      if (const auto server = endpoint_from(cell.value)) region.server = *server;
    } else if (cell.qualifier == "seqnumDuringOpen" && cell.value.size() == 8) {
      region.sequence = static_cast<std::int64_t>(load_be<std::uint64_t>(cell.value.data()));
    } else if (cell.qualifier == "state") {
      row.closed = cell.value == "CLOSED";
    }
  }
  if (region.table.empty() || gone) return row;
  row.region = std::make_shared<const Region>(std::move(region));
  return row;
}

void set_region(pb::RegionSpecifier& to, BytesView name) {
  to.set_type(pb::RegionSpecifier::REGION_NAME);
  to.set_value(std::string(name));
}

}  // namespace halite::storage::hbase
