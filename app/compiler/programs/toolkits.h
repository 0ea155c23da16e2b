#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpscope::compiler {

/// The folders in which a CUDA Toolkit is looked for, in order: CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda, /usr/local/cuda-13.0 and the like with the newest first, /opt/cuda. All are
/// absolute, because a relative one would let the folder in which the app is started bring
/// programs.
std::vector<std::filesystem::path> toolkits();

/// The folder into which the script fetch_compiler puts a compiler, "nvrtc" or "nvcc". Empty: the
/// user has no home folder.
std::filesystem::path fetched_compiler(const std::string& name);

/// The value of a variable of the environment; empty: it is not set.
std::string environment(const char* name);

}  // namespace warpscope::compiler
