#include "storage/tools/backup/s3/s3_answers.h"

#include <chrono>
#include <cstddef>
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "common/bytes/read_number.h"

namespace halite::storage::backup {
namespace {

// Without document types, and so without entities of their own.
constexpr unsigned kParse = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol;
constexpr std::size_t kPageItemsMax = 10'000;  // S3 answers 1000 at most

std::unexpected<Error> wrong_document(std::string_view wanted, std::string_view why) {
  return fail(Errc::kUnavailable, fmt::format("the server's answer is no {}: {}", wanted, why));
}

// The document if its root has this name.
Result<pugi::xml_node> root_of(pugi::xml_document& document, std::string_view xml,
                               const char* name) {
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), kParse, pugi::encoding_utf8);
  if (!parsed) return wrong_document(name, parsed.description());
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != name) {
    return wrong_document(name,
                          fmt::format("it is <{}>", std::string_view(root.name()).substr(0, 64)));
  }
  return root;
}

// The text of an element that must occur once.
Result<std::string> text_of(const pugi::xml_node& node, const char* name) {
  const pugi::xml_node child = node.child(name);
  if (!child) return wrong_document(node.name(), fmt::format("no <{}>", name));
  if (child.next_sibling(name)) return wrong_document(node.name(), fmt::format("two <{}>", name));
  return std::string(child.text().get());
}

Result<bool> flag_of(const pugi::xml_node& node, const char* name) {
  TRY(const std::string text, text_of(node, name));
  if (text == "true") return true;
  if (text == "false") return false;
  return wrong_document(node.name(), fmt::format("<{}> is neither true nor false", name));
}

// "2009-10-12T17:50:30.000Z", with or without the fraction.
Result<TimestampMs> time_of(const pugi::xml_node& node, const char* name) {
  TRY(const std::string text, text_of(node, name));
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  const std::string_view view = text;
  const bool read = view.size() >= 19 && view.ends_with('Z') && view[4] == '-' && view[7] == '-' &&
                    view[10] == 'T' && view[13] == ':' && view[16] == ':' &&
                    read_number(view.substr(0, 4), year) && read_number(view.substr(5, 2), month) &&
                    read_number(view.substr(8, 2), day) && read_number(view.substr(11, 2), hour) &&
                    read_number(view.substr(14, 2), minute) &&
                    read_number(view.substr(17, 2), second);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!read || !date.ok() || hour > 23 || minute > 59 || second > 60) {
    return wrong_document(node.name(), fmt::format("<{}> is no time", name));
  }
  const std::chrono::sys_seconds seconds = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                                           std::chrono::minutes(minute) +
                                           std::chrono::seconds(second);
  return std::chrono::duration_cast<std::chrono::milliseconds>(seconds.time_since_epoch()).count();
}

Result<ListedObject> object_of(const pugi::xml_node& node) {
  ListedObject object;
  TRY(object.key, text_of(node, "Key"));
  TRY(const std::string size, text_of(node, "Size"));
  if (!read_number(size, object.bytes)) return wrong_document("Contents", "<Size> is no number");
  TRY(object.modified, time_of(node, "LastModified"));
  return object;
}

}  // namespace

S3Error parse_s3_error(std::string_view xml) {
  pugi::xml_document document;
  const Result<pugi::xml_node> root = root_of(document, xml, "Error");
  if (!root) return {};
  return {.code = root->child("Code").text().get(),
          .message = root->child("Message").text().get(),
          .region = root->child("Region").text().get(),
          .endpoint = root->child("Endpoint").text().get()};
}

Result<ObjectPage> parse_object_page(std::string_view xml) {
  pugi::xml_document document;
  TRY(const pugi::xml_node root, root_of(document, xml, "ListBucketResult"));
  ObjectPage page;
  for (const pugi::xml_node& node : root.children("Contents")) {
    if (page.objects.size() == kPageItemsMax)
      return wrong_document(root.name(), "too many <Contents>");
    TRY(ListedObject object, object_of(node));
    page.objects.push_back(std::move(object));
  }
  TRY(const bool more, flag_of(root, "IsTruncated"));
  if (!more) return page;
  TRY(page.next, text_of(root, "NextContinuationToken"));
  if (page.next.empty()) return wrong_document(root.name(), "<NextContinuationToken> is empty");
  return page;
}

Result<UploadPage> parse_upload_page(std::string_view xml) {
  pugi::xml_document document;
  TRY(const pugi::xml_node root, root_of(document, xml, "ListMultipartUploadsResult"));
  UploadPage page;
  for (const pugi::xml_node& node : root.children("Upload")) {
    if (page.uploads.size() == kPageItemsMax)
      return wrong_document(root.name(), "too many <Upload>");
    UnfinishedUpload upload;
    TRY(upload.key, text_of(node, "Key"));
    TRY(upload.id, text_of(node, "UploadId"));
    page.uploads.push_back(std::move(upload));
  }
  TRY(page.more, flag_of(root, "IsTruncated"));
  if (!page.more) return page;
  TRY(page.next.key, text_of(root, "NextKeyMarker"));
  TRY(page.next.id, text_of(root, "NextUploadIdMarker"));
  return page;
}

Result<std::string> parse_upload_id(std::string_view xml) {
  pugi::xml_document document;
  TRY(const pugi::xml_node root, root_of(document, xml, "InitiateMultipartUploadResult"));
  TRY(std::string id, text_of(root, "UploadId"));
  if (id.empty()) return wrong_document(root.name(), "<UploadId> is empty");
  return id;
}

bool is_completed_upload(std::string_view xml) {
  pugi::xml_document document;
  return root_of(document, xml, "CompleteMultipartUploadResult").has_value();
}

std::string completion_xml(const std::vector<std::string>& etags) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("CompleteMultipartUpload");
  root.append_attribute("xmlns") = "http://s3.amazonaws.com/doc/2006-03-01/";
  for (std::size_t at = 0; at < etags.size(); ++at) {
    pugi::xml_node part = root.append_child("Part");
    part.append_child("PartNumber").text().set(static_cast<unsigned>(at + 1));
    part.append_child("ETag").text().set(etags[at].c_str());
  }
  std::ostringstream out;
  document.save(out, "", pugi::format_raw | pugi::format_no_declaration);
  return out.str();
}

}  // namespace halite::storage::backup
