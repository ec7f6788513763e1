#include "web/http/form.h"

#include <optional>
#include <string>
#include <string_view>

#include "common/bytes/ascii.h"

namespace halite::web {
namespace {

constexpr std::string_view kUrlEncoded = "application/x-www-form-urlencoded";
constexpr std::string_view kMultipart = "multipart/form-data";
constexpr std::string_view kMultipartLineEnd = "\r\n";

// The value of a parameter of a header such as `form-data; name="query"`, without quotes.
std::optional<std::string> header_parameter(std::string_view header, std::string_view name) {
  std::size_t at = header.find(';');
  while (at < header.size()) {
    header = trim(header.substr(at + 1));
    const std::size_t equals = header.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const bool wanted = equal_ignoring_case(trim(header.substr(0, equals)), name);
    header = trim(header.substr(equals + 1));
    std::string value;
    if (header.starts_with('"')) {
      for (at = 1; at < header.size() && header[at] != '"'; ++at) {
        if (header[at] == '\\' && at + 1 < header.size()) ++at;
        value += header[at];
      }
      at = header.find(';', at);
    } else {
      at = header.find(';');
      value = trim(header.substr(0, at));
    }
    if (wanted) return value;
  }
  return std::nullopt;
}

// The value of the Content-Disposition in the headers of a part.
std::string_view disposition(std::string_view headers) {
  constexpr std::string_view kName = "Content-Disposition:";
  while (!headers.empty()) {
    const std::size_t end = headers.find(kMultipartLineEnd);
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(end == std::string_view::npos ? headers.size()
                                                        : end + kMultipartLineEnd.size());
    if (equal_ignoring_case(line.substr(0, kName.size()), kName)) return line.substr(kName.size());
  }
  return {};
}

Result<Parameters> multipart_fields(std::string_view body, std::string_view content_type) {
  const std::optional<std::string> boundary = header_parameter(content_type, "boundary");
  if (!boundary || boundary->empty()) {
    return fail(Errc::kInvalidArgument, "no multipart boundary param in Content-Type");
  }
  const std::string delimiter = "--" + *boundary;
  const std::string next_delimiter = std::string(kMultipartLineEnd) + delimiter;
  const auto cut = [] {
    return fail(Errc::kInvalidArgument, "the multipart body ends before its last boundary");
  };
  Parameters fields;
  std::size_t at = body.find(delimiter);
  while (true) {
    if (at == std::string_view::npos) return cut();
    body.remove_prefix(at + delimiter.size());
    if (body.starts_with("--")) return fields;
    const std::size_t line_end = body.find(kMultipartLineEnd);
    if (line_end == std::string_view::npos) return cut();
    body.remove_prefix(line_end);  // its line end may begin the empty line behind no headers
    const std::size_t content = body.find("\r\n\r\n");
    const std::size_t end = content == std::string_view::npos
                                ? std::string_view::npos
                                : body.find(next_delimiter, content + 2);
    if (end == std::string_view::npos) return cut();
    const std::string_view about = disposition(body.substr(0, content));
    const std::optional<std::string> name = header_parameter(about, "name");
    if (name && !header_parameter(about, "filename")) {
      const std::size_t begin = content + 4;
      fields.emplace_back(*name, end < begin ? "" : body.substr(begin, end - begin));
    }
    at = end + kMultipartLineEnd.size();
  }
}

}  // namespace

bool has_form(const Request& request) {
  return has_media_type(request, kUrlEncoded) || has_media_type(request, kMultipart);
}

Result<Parameters> form_fields(const Request& request) {
  if (request.body.empty()) return Parameters();
  if (has_media_type(request, kUrlEncoded)) return parse_parameters(request.body);
  if (!has_media_type(request, kMultipart)) return Parameters();
  return multipart_fields(request.body, request.headers.get("Content-Type"));
}

}  // namespace halite::web
