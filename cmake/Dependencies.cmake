# All libraries come from packages of the system; `./run` installs them.
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)  # which libpng brings
find_package(glfw3 3.3 REQUIRED)
find_package(OpenGL REQUIRED COMPONENTS EGL)
find_package(GTest REQUIRED)
set(MPI_CXX_SKIP_MPICXX ON)  # Open MPI 5 has no C++ bindings
find_package(MPI COMPONENTS CXX QUIET)  # for ranks in several processes
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
# They come into programs of others, where the versions of those count. Some systems have no static ones.
find_library(ZSTD NAMES libzstd.a zstd REQUIRED)
find_library(LZ4 NAMES liblz4.a lz4 REQUIRED)
pkg_check_modules(minizip REQUIRED IMPORTED_TARGET minizip)
pkg_check_modules(imgui REQUIRED IMPORTED_TARGET imgui)

# nvcc makes machine code for GPUs. Without it the driver compiles the committed PTX. Searches the
# folders of NVIDIA's packages, so that nvcc need not be in PATH. It needs a C++ compiler that it supports,
# which is not always the one of the system, so it has to compile something first.
set(WARPSCOPE_HAS_NVCC OFF)
if(WARPSCOPE_NVCC)
  find_program(NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda /opt/cuda
               PATH_SUFFIXES bin)
  set(nvcc_version 0)
  if(NVCC)
    execute_process(COMMAND ${NVCC} --version OUTPUT_VARIABLE words ERROR_QUIET)
    if(words MATCHES "V([0-9.]+)")
      set(nvcc_version ${CMAKE_MATCH_1})
    endif()
  endif()
  if(nvcc_version VERSION_LESS 11.8)
    message(STATUS "No CUDA Toolkit >= 11.8: a GPU's driver will compile the PTX in kernels/ptx "
                   "(set CUDA_HOME if a toolkit is elsewhere)")
  else()
    set(empty ${CMAKE_BINARY_DIR}/CMakeFiles/empty)
    file(WRITE ${empty}.cu "")
    execute_process(COMMAND ${NVCC} -std=c++17 -ptx -arch=compute_75 -o ${empty}.ptx ${empty}.cu
                    RESULT_VARIABLE failure OUTPUT_VARIABLE words ERROR_VARIABLE words)
    if(failure)
      string(REGEX MATCH "[^\n]+" words "${words}")
      message(STATUS "CUDA Toolkit ${nvcc_version} (${NVCC}) does not compile, so a GPU's driver will "
                     "compile the PTX in kernels/ptx: ${words}")
    else()
      set(WARPSCOPE_HAS_NVCC ON)
      message(STATUS "CUDA Toolkit ${nvcc_version} (${NVCC})")
    endif()
  endif()
endif()
