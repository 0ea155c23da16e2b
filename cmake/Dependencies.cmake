# All libraries come from packages of the system; `./run` installs them.
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PNG REQUIRED)
find_package(glfw3 3.3 REQUIRED)
find_package(OpenGL REQUIRED COMPONENTS EGL)
find_package(GTest REQUIRED)
set(MPI_CXX_SKIP_MPICXX ON)  # Open MPI 5 has no C++ bindings
find_package(MPI COMPONENTS CXX QUIET)  # for ranks in several processes
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(imgui REQUIRED IMPORTED_TARGET imgui)

# nvcc makes machine code for GPUs. Without it the driver compiles the committed PTX. Searches the
# folders of NVIDIA's packages, so that nvcc need not be in PATH.
set(WARPSCOPE_HAS_NVCC OFF)
if(WARPSCOPE_NVCC)
  find_program(NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda /opt/cuda
               PATH_SUFFIXES bin)
  if(NVCC)
    # Not "realpath": /usr/local/cuda is a symbolic link, which changes with an update of the toolkit.
    cmake_path(GET NVCC PARENT_PATH nvcc_folder)
    cmake_path(GET nvcc_folder PARENT_PATH CUDAToolkit_ROOT)
    find_package(CUDAToolkit 11.8)
  endif()
  if(CUDAToolkit_FOUND)
    set(WARPSCOPE_HAS_NVCC ON)
    message(STATUS "CUDA Toolkit ${CUDAToolkit_VERSION} (${NVCC})")
  else()
    message(STATUS "No CUDA Toolkit >= 11.8: a GPU's driver will compile the PTX in kernels/ptx "
                   "(set CUDA_HOME if a toolkit is elsewhere)")
  endif()
endif()
