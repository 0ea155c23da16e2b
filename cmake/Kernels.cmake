# kernels/*.cu and kernels/gallery/*.cu -> images that `compute` embeds.
#   NAME.ptx, NAME.fast.ptx   for the emulator: compute_75, precise and -use_fast_math
#   NAME.fatbin, NAME.fast.fatbin   for the GPU: machine code of every major architecture, and PTX
# with "gallery/life" for NAME.
# Without a toolkit the committed kernels/ptx/ serves and there is no GPU device.
# `cmake --build --preset default --target update_ptx` brings the committed texts up to date.
set(kernel_folder ${CMAKE_SOURCE_DIR}/kernels)
file(GLOB WARPSCOPE_KERNEL_SOURCES CONFIGURE_DEPENDS ${kernel_folder}/*.cu
     ${kernel_folder}/gallery/*.cu)
set(WARPSCOPE_KERNEL_IMAGES "")
set(update_commands "")

function(compile_kernel source image)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FLAGS")
  set(script ${CMAKE_SOURCE_DIR}/cmake/portable_ptx.py)
  set(output ${CMAKE_BINARY_DIR}/kernels/${image})
  cmake_path(GET output PARENT_PATH folder)
  if(image MATCHES "ptx$")
    set(finish COMMAND ${Python3_EXECUTABLE} ${script} ${output})
  endif()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${NVCC} -std=c++17 -lineinfo ${arg_FLAGS} -o ${output} ${source}
    ${finish}
    DEPENDS ${source} ${script}
    COMMENT "nvcc ${image}"
    VERBATIM)
endfunction()

foreach(source IN LISTS WARPSCOPE_KERNEL_SOURCES)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${kernel_folder} OUTPUT_VARIABLE name)
  cmake_path(REMOVE_EXTENSION name)
  foreach(math precise fast)
    set(image ${name})
    set(flags "")
    if(math STREQUAL fast)
      set(image ${name}.fast)
      set(flags -use_fast_math)
    endif()
    set(committed ${kernel_folder}/ptx/${image}.ptx)
    if(WARPSCOPE_HAS_CUDA)
      compile_kernel(${source} ${image}.ptx FLAGS -ptx -arch=compute_75 ${flags})
      compile_kernel(${source} ${image}.fatbin FLAGS -fatbin -arch=all-major ${flags})
      list(APPEND WARPSCOPE_KERNEL_IMAGES ${image}.ptx=${CMAKE_BINARY_DIR}/kernels/${image}.ptx
           ${image}.fatbin=${CMAKE_BINARY_DIR}/kernels/${image}.fatbin)
      list(APPEND update_commands COMMAND ${CMAKE_COMMAND} -E copy_if_different
           ${CMAKE_BINARY_DIR}/kernels/${image}.ptx ${committed})
      list(APPEND WARPSCOPE_BUILT_PTX ${CMAKE_BINARY_DIR}/kernels/${image}.ptx)
      list(APPEND WARPSCOPE_BUILT_FATBINS ${CMAKE_BINARY_DIR}/kernels/${image}.fatbin)
    else()
      list(APPEND WARPSCOPE_KERNEL_IMAGES ${image}.ptx=${committed})
    endif()
  endforeach()
endforeach()

if(WARPSCOPE_HAS_CUDA)
  # A rule is only written for the outputs of some target of this folder.
  add_custom_target(kernel_images DEPENDS ${WARPSCOPE_BUILT_PTX} ${WARPSCOPE_BUILT_FATBINS})
  add_custom_target(update_ptx ${update_commands} DEPENDS ${WARPSCOPE_BUILT_PTX} VERBATIM)
endif()
