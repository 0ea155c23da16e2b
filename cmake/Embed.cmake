# embed_files(TARGET FUNCTION NAME=PATH...)
# Builds files into TARGET and defines the function that returns them, which a header of the target must
# declare: `std::string_view FUNCTION(std::string_view name)`. FUNCTION is a qualified name. The result
# is empty for an unknown name.
function(embed_files target function)
  string(REPLACE "::" "_" symbol ${function})
  set(assembly "    .section .rodata\n")
  set(rows "")
  set(externs "")
  set(paths "")
  set(i 0)
  foreach(pair IN LISTS ARGN)
    string(REGEX MATCH "^([^=]+)=(.+)$" _ ${pair})
    set(name ${CMAKE_MATCH_1})
    set(path ${CMAKE_MATCH_2})
    list(APPEND paths ${path})
    set(s ${symbol}_${i})
    string(APPEND assembly "    .balign 64\n    .global ${s}, ${s}_end\n"
           "${s}:\n    .incbin \"${path}\"\n${s}_end:\n    .byte 0\n")
    string(APPEND externs "extern \"C\" const char ${s}[], ${s}_end[];\n")
    string(APPEND rows "    if (name == \"${name}\") return {${s}, std::size_t(${s}_end - ${s})};\n")
    math(EXPR i "${i} + 1")
  endforeach()
  string(APPEND assembly "    .section .note.GNU-stack,\"\",%progbits\n")
  set(base ${CMAKE_CURRENT_BINARY_DIR}/${symbol})
  file(CONFIGURE OUTPUT ${base}.S CONTENT "${assembly}" @ONLY)
  string(REGEX REPLACE "::[^:]+$" "" namespace ${function})
  string(REGEX REPLACE "^.*::" "" name ${function})
  file(CONFIGURE OUTPUT ${base}.cpp @ONLY CONTENT
"#include <cstddef>
#include <string_view>

${externs}
namespace ${namespace} {

std::string_view ${name}(std::string_view name) {
${rows}    return {};
}

}  // namespace ${namespace}
")
  set_source_files_properties(${base}.S PROPERTIES OBJECT_DEPENDS "${paths}")
  target_sources(${target} PRIVATE ${base}.S ${base}.cpp)
endfunction()

# compressed_files(OUT NAME=PATH...)
# Sets OUT to such pairs for embed_files() whose files are compressed when they are built:
# files::uncompressed() gives the text back.
function(compressed_files out)
  set(pairs "")
  foreach(pair IN LISTS ARGN)
    string(REGEX MATCH "^([^=]+)=(.+)$" _ ${pair})
    set(packed ${CMAKE_CURRENT_BINARY_DIR}/compressed/${CMAKE_MATCH_1}.zst)
    cmake_path(GET packed PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${packed}
      COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_MATCH_2} -DOUT=${packed} -P ${PROJECT_SOURCE_DIR}/cmake/Compress.cmake
      DEPENDS ${CMAKE_MATCH_2} ${PROJECT_SOURCE_DIR}/cmake/Compress.cmake
      COMMENT "compress ${CMAKE_MATCH_1}"
      VERBATIM)
    list(APPEND pairs ${CMAKE_MATCH_1}=${packed})
  endforeach()
  set(${out} ${pairs} PARENT_SCOPE)
endfunction()
