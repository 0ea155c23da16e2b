#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/nvrtc.h"

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

/// NVIDIA's compiler of programs, with a C++ compiler for their code of the host.
struct Nvcc {
    std::filesystem::path program;  ///< nvcc
    std::filesystem::path host;     ///< g++
    /// Where the CUDA runtime lies that programs are linked with; empty: nvcc knows it.
    std::filesystem::path libraries;
};

/// Searches PATH for nvcc, then the folders of CUDA Toolkits, NVIDIA's packages in the Python
/// environment in use, and what the script fetch_compiler has downloaded; and PATH for g++. Throws
/// NoCompiler, which says what to install.
Nvcc find_nvcc();

/// The words of a command line: blanks separate them, and quotes keep words with blanks together.
std::vector<std::string> words_of(std::string_view line);

/// The options of nvcc that a source names in a comment on one of its first lines: "// nvcc:
/// -lcublas more.cu". Names of files and of folders (-I, -L) begin at `folder`, that of the source.
std::vector<std::string> options_in(std::string_view source, const std::filesystem::path& folder);

}  // namespace warpscope::compiler
