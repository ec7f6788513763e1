# Builds files into a library, as they are and gzipped: halite_embed(halite_web DIR d FILES a b)
# web/embedded_file.h declares the table.
find_program(GZIP_PROGRAM gzip REQUIRED)

function(halite_embed target)
  cmake_parse_arguments(ARG "" "DIR" "FILES" ${ARGN})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(MAKE_DIRECTORY ${out})
  set(assembly ".section .rodata\n")
  set(declarations "")
  set(entries "")
  set(inputs "")
  set(number 0)
  foreach(file ${ARG_FILES})
    add_custom_command(
      OUTPUT ${out}/${file}.gz
      COMMAND ${GZIP_PROGRAM} -9 -n -c ${ARG_DIR}/${file} > ${out}/${file}.gz
      DEPENDS ${ARG_DIR}/${file}
      VERBATIM)
    set(plain halite_embedded_${number})
    set(packed halite_embedded_${number}_gz)
    foreach(pair "${plain}|${ARG_DIR}/${file}" "${packed}|${out}/${file}.gz")
      string(REPLACE "|" ";" pair "${pair}")
      list(GET pair 0 symbol)
      list(GET pair 1 path)
      string(APPEND assembly ".global ${symbol}, ${symbol}_end\n${symbol}:\n.incbin \"${path}\"\n"
             "${symbol}_end:\n.byte 0\n")
      string(APPEND declarations "extern const char ${symbol}[];\nextern const char ${symbol}_end[];\n")
      list(APPEND inputs ${path})
    endforeach()
    string(APPEND entries "    {\"${file}\", ${plain}, ${plain}_end, ${packed}, ${packed}_end},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  string(APPEND assembly ".section .note.GNU-stack,\"\",@progbits\n")

  file(CONFIGURE OUTPUT ${out}/bytes.S CONTENT "${assembly}" @ONLY)
  file(CONFIGURE OUTPUT ${out}/table.cc CONTENT
"#include \"web/embedded_file.h\"
extern \"C\" {
${declarations}}
namespace halite::web {
const EmbeddedFile kEmbeddedFiles[] = {
${entries}};
const std::size_t kEmbeddedFileCount = ${number};
}  // namespace halite::web
" @ONLY)
  set_source_files_properties(${out}/bytes.S PROPERTIES OBJECT_DEPENDS "${inputs}")
  # clang-tidy reads what is in a unity batch, and this is generated.
  set_source_files_properties(${out}/table.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${out}/bytes.S ${out}/table.cc)
endfunction()
