# simdjson 3.6 (Ubuntu 24.04) calls functions of a class that derives from its own, without a cast. Clang 19 refuses that; other
# versions of simdjson have no such calls. So its only header is found as a corrected copy.
find_path(SIMDJSON_INCLUDE_DIR simdjson.h REQUIRED)
file(READ "${SIMDJSON_INCLUDE_DIR}/simdjson.h" header)
if(header MATCHES "call_print_newline\\(\\) {\n      this->print_newline")
  foreach(arguments "()" "(size_t depth)")
    string(REPLACE "${arguments} {\n      this->print_"
                   "${arguments} {\n      static_cast<formatter *>(this)->print_" header "${header}")
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/corrected/simdjson.h" CONTENT "${header}" @ONLY)
  target_include_directories(simdjson::simdjson BEFORE INTERFACE "${PROJECT_BINARY_DIR}/corrected")
endif()
unset(header)
