# precompiled_headers(NAME HEADER [LIBRARIES...]) makes a target whose precompiled header the targets
# of other rooms reuse: `target_precompile_headers(ui REUSE_FROM app_headers)`. The path of the header is
# relative to app, an include directory, so that ccache knows the result in every clone of the project.
function(precompiled_headers name header)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/app)
  target_link_libraries(${name} PRIVATE fmt::fmt ${ARGN})
  target_precompile_headers(${name} PRIVATE "\"${header}\"")
endfunction()
