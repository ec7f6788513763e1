// GET / and the page's files (/app.js, ..), also under /s/ as in OpenTSDB.
//
// Parameters  none
// Answer      200 the file, gzipped if the client accepts that; 304 if the client's copy is current
// Errors      404 no such file; 400 a path with ".."
#include "web/handlers/handlers.h"
#include "web/http/content_coding.h"
#include "web/json/error_map.h"
#include "web/ui_files.h"

namespace halite::web {

namespace {

Response file_response(const Call& call, const UiFile& file) {
  Response response;
  response.content_type = content_type_of(file.name);
  const std::string etag = etag_of(file);
  response.headers.add("ETag", etag);
  response.headers.add("Cache-Control", "no-cache");  // revalidate; 304 is cheap
  if (call.request.headers.get("If-None-Match").find(etag) != std::string_view::npos) {
    response.status = 304;
    return response;
  }
  const Coding coding = choose_coding(call.request.headers.get("Accept-Encoding"));
  if (coding == Coding::kGzip) {
    response.headers.add("Content-Encoding", "gzip");
    response.headers.add("Vary", "Accept-Encoding");
    response.body = file.gzipped;
  } else {
    response.body = file.bytes;
  }
  return response;
}

}  // namespace

boost::asio::awaitable<Response> handle_page(Call& call) {
  const std::string_view path(call.target.path);
  const UiFile* file = find_ui_file(path.substr(1));
  if (file == nullptr) {
    co_return text_response(404, error_page("Page Not Found", "This page does not exist."),
                            kHtmlType);
  }
  co_return file_response(call, *file);
}

boost::asio::awaitable<Response> handle_static(Call& call) {
  if (call.target.path.find("..") != std::string::npos) {
    co_return text_response(400, error_page("Bad Request", "Malformed URI"), kHtmlType);
  }
  const UiFile* file = call.target.rest.size() == 1 ? find_ui_file(call.target.rest[0]) : nullptr;
  if (file == nullptr) {
    co_return json_response(404, error_envelope(404, "Page not found", {}));
  }
  co_return file_response(call, *file);
}

}  // namespace halite::web
