option(WARPSCOPE_UNITY "compile the sources of a folder together" ON)

# unity_by_folder(TARGET [EXCEPT REGEX]) compiles the sources of each folder of a target as one, which takes
# a third of the time: headers are read, and templates instantiated, once for a folder. Therefore the names
# in the anonymous namespaces of a folder differ. Files whose path matches the expression, and files with
# compile options of their own, are compiled alone.
function(unity_by_folder target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT" "")
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    if(NOT arg_EXCEPT OR NOT source MATCHES "${arg_EXCEPT}")
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET folder FILENAME folder)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WARPSCOPE_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()
