option(WARPSCOPE_UNITY "compile the sources of a folder together" ON)

# unity_by_folder(TARGET [EXCEPT REGEX] [JOIN BYTES]) compiles the sources of each folder of a target as one,
# which takes a third of the time: headers are read, and templates instantiated, once for a folder. Therefore
# the names in the anonymous namespaces of a folder differ. Files whose path matches the expression, and files
# with compile options of their own, are compiled alone. With JOIN, folders that follow each other are compiled
# together until their sources have so many bytes.
function(unity_by_folder target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT;JOIN" "")
  get_target_property(sources ${target} SOURCES)
  set(group "")
  set(before "")
  set(bytes 0)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    if(NOT arg_EXCEPT OR NOT source MATCHES "${arg_EXCEPT}")
      cmake_path(GET source PARENT_PATH folder)
      if(NOT folder STREQUAL before AND (NOT arg_JOIN OR NOT group OR bytes GREATER_EQUAL arg_JOIN))
        cmake_path(GET folder FILENAME group)
        set(bytes 0)
      endif()
      set(before ${folder})
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
      file(SIZE ${source} size)
      math(EXPR bytes "${bytes} + ${size}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WARPSCOPE_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()
