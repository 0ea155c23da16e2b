option(WARPSCOPE_UNITY "compile the sources of a folder together" ON)

# unity_by_folder(TARGET [EXCEPT REGEX] [JOIN BYTES]) compiles the sources of each folder of a target as one,
# which takes a third of the time: headers are read, and templates instantiated, once for a folder. Therefore
# the names in the anonymous namespaces of a folder differ. Files whose path matches the expression, and files
# with compile options or definitions of their own, set before the call, are compiled alone. With JOIN,
# folders that follow each other are compiled together until their sources have so many bytes.
#
# CMake's UNITY_BUILD includes sources by absolute path. Here the paths are relative, so that ccache knows the
# joined sources in every clone of the project.
function(unity_by_folder target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT;JOIN" "")
  if(NOT WARPSCOPE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(alone "")
  set(groups "")
  set(group "")
  set(before "")
  set(bytes 0)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    get_source_file_property(own_options ${source} COMPILE_OPTIONS)
    get_source_file_property(own_definitions ${source} COMPILE_DEFINITIONS)
    if(own_options OR own_definitions OR NOT source MATCHES "\\.cpp$" OR (arg_EXCEPT AND source MATCHES "${arg_EXCEPT}"))
      list(APPEND alone ${source})
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    if(NOT folder STREQUAL before AND (NOT arg_JOIN OR NOT group OR bytes GREATER_EQUAL arg_JOIN))
      cmake_path(GET folder FILENAME group)
      set(bytes 0)
    endif()
    set(before ${folder})
    file(SIZE ${source} size)
    math(EXPR bytes "${bytes} + ${size}")
    list(APPEND groups ${group})
    list(APPEND sources_of_${group} ${source})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  set(joined "")
  foreach(group IN LISTS groups)
    join_sources(${CMAKE_CURRENT_BINARY_DIR}/${target}_joined/${group}.cpp ${sources_of_${group}})
    list(APPEND joined ${CMAKE_CURRENT_BINARY_DIR}/${target}_joined/${group}.cpp)
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${alone};${joined}")
endfunction()

# join_sources(FILE SOURCES...): a file that includes the sources. It is written only if that changes it.
function(join_sources file)
  cmake_path(GET file PARENT_PATH folder)
  set(includes "")
  foreach(source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${folder})
    string(APPEND includes "#include \"${source}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${includes}" @ONLY)
endfunction()
