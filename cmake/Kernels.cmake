# kernels/*.cu and kernels/gallery/*.cu become images that `compute` embeds:
#   MATH/NAME.ptx      what the emulator runs; always the committed text in kernels/ptx/, so that
#                      pictures, counts and costs are the same whatever toolkit is there
#   MATH/NAME.fatbin   machine code for frequent GPUs; only in builds with a CUDA Toolkit. For all
#                      others the driver compiles the committed text.
# MATH is "precise" or "fast" (nvcc -use_fast_math), NAME for example "dot" or "gallery/life".
# After a change of a kernel, `cmake --build --preset default --target update_ptx` writes the
# committed texts; the test committed_ptx_is_fresh fails until that is done.
set(kernel_folder ${CMAKE_SOURCE_DIR}/kernels)
file(GLOB WARPSCOPE_KERNEL_SOURCES CONFIGURE_DEPENDS ${kernel_folder}/*.cu
     ${kernel_folder}/gallery/*.cu)
file(GLOB WARPSCOPE_KERNEL_TEXTS CONFIGURE_DEPENDS ${kernel_folder}/gallery/*.launch.json)
list(APPEND WARPSCOPE_KERNEL_TEXTS ${WARPSCOPE_KERNEL_SOURCES})
set(WARPSCOPE_KERNEL_IMAGES "")
set(WARPSCOPE_KERNEL_PTX "")

# Each architecture costs time to compile and, compressed, 0.4 MB. The driver decompresses what it
# loads.
set(WARPSCOPE_ARCHITECTURES native CACHE STRING
    "compute capabilities of GPUs to compile the kernels for, e.g. 80;90; native: those of this machine")
set(architectures "")
if(WARPSCOPE_HAS_NVCC)
  set(capabilities ${WARPSCOPE_ARCHITECTURES})
  if(capabilities STREQUAL native)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE failure TIMEOUT 20)
    if(failure)
      # sm_90 compiles every branch of the kernels, also where no GPU will run them.
      set(capabilities 90)
    endif()
    string(REGEX MATCHALL "[0-9.]+" capabilities "${capabilities}")
    list(TRANSFORM capabilities REPLACE "\\." "")
    list(REMOVE_DUPLICATES capabilities)
  endif()
  execute_process(COMMAND ${NVCC} --list-gpu-arch OUTPUT_VARIABLE known)
  foreach(capability IN LISTS capabilities)
    if(known MATCHES "compute_${capability}\n")
      list(APPEND architectures -gencode=arch=compute_${capability},code=sm_${capability})
    endif()
  endforeach()
endif()

# kernel_target(SOURCE VARIABLE): the compute capability that a source needs, by the words that the
# app takes for the sources that it compiles.
set(target_words ${CMAKE_SOURCE_DIR}/app/compiler/target_words.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${target_words})
function(kernel_target source variable)
  file(READ ${source} text)
  file(STRINGS ${target_words} rows REGEX "^TARGET_WORD")
  set(target 75)
  foreach(row IN LISTS rows)
    string(REGEX MATCH "([0-9]+), \"(.*)\"" _ "${row}")
    set(capability ${CMAKE_MATCH_1})
    string(FIND "${text}" "${CMAKE_MATCH_2}" place)
    if(place GREATER_EQUAL 0 AND capability GREATER target)
      set(target ${capability})
    endif()
  endforeach()
  set(${variable} ${target} PARENT_SCOPE)
endfunction()

# compile_kernel(SOURCE OUTPUT [FLAGS...]): a rule that makes a .ptx or .fatbin file with nvcc.
function(compile_kernel source output)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FLAGS")
  set(script ${CMAKE_SOURCE_DIR}/cmake/portable_ptx.py)
  cmake_path(GET output PARENT_PATH folder)
  cmake_path(RELATIVE_PATH output BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE name)
  set(finish "")
  kernel_target(${source} target)
  if(output MATCHES "ptx$")
    list(APPEND arg_FLAGS -ptx -arch=compute_${target})
    set(finish COMMAND ${Python3_EXECUTABLE} ${script} ${output})
  else()
    set(fitting "")
    foreach(architecture IN LISTS architectures)
      string(REGEX MATCH "compute_([0-9]+)" _ ${architecture})
      if(CMAKE_MATCH_1 GREATER_EQUAL target)
        list(APPEND fitting ${architecture})
      endif()
    endforeach()
    if(NOT fitting)
      set(fitting -gencode=arch=compute_${target},code=compute_${target})
    endif()
    list(APPEND arg_FLAGS -fatbin -Xfatbin -compress-all ${fitting})
  endif()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${NVCC} -std=c++17 -lineinfo ${arg_FLAGS} -o ${output} ${source}
    ${finish}
    DEPENDS ${source} ${script}
    COMMENT "nvcc ${name}"
    VERBATIM)
endfunction()

set(built_ptx "")
set(built_fatbins "")
set(update_commands "")
foreach(source IN LISTS WARPSCOPE_KERNEL_SOURCES)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${kernel_folder} OUTPUT_VARIABLE name)
  cmake_path(REMOVE_EXTENSION name)
  foreach(math precise fast)
    set(image ${math}/${name})
    set(committed ${kernel_folder}/ptx/${image}.ptx)
    list(APPEND WARPSCOPE_KERNEL_PTX ${committed})
    list(APPEND WARPSCOPE_KERNEL_IMAGES ${image}.ptx=${committed})
    if(WARPSCOPE_HAS_NVCC)
      set(flags "")
      if(math STREQUAL fast)
        # NVRTC defines this macro where math is fast, nvcc does not.
        set(flags FLAGS -use_fast_math -D__USE_FAST_MATH__)
      endif()
      set(output ${CMAKE_BINARY_DIR}/kernel_images/${image})
      compile_kernel(${source} ${output}.ptx ${flags})
      compile_kernel(${source} ${output}.fatbin ${flags})
      list(APPEND built_ptx ${output}.ptx)
      list(APPEND built_fatbins ${output}.fatbin)
      list(APPEND WARPSCOPE_KERNEL_IMAGES ${image}.fatbin=${output}.fatbin)
      list(APPEND update_commands COMMAND ${CMAKE_COMMAND} -E copy_if_different ${output}.ptx
           ${committed})
    endif()
  endforeach()
endforeach()

if(WARPSCOPE_HAS_NVCC)
  # ALL: the freshness test compares PTX that nothing else needs.
  add_custom_target(kernel_images ALL DEPENDS ${built_ptx} ${built_fatbins})
  add_custom_target(update_ptx ${update_commands} DEPENDS ${built_ptx} VERBATIM)
endif()
