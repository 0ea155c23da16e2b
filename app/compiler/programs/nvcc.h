#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diagnostic.h"

namespace warpscope::compiler {

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
