#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/nvrtc.h"
#include "compiler/programs/run_command.h"

namespace warpscope::compiler {

/// A source with a main(), from which nvcc makes a program.
struct ProgramSource {
    std::filesystem::path file;  ///< "my.cu"
    /// For nvcc, in front of those that the source names: options, and further files.
    std::vector<std::string> options{};
    /// The compute capability that it is compiled for. 0: the oldest of `targets` that has what the
    /// source uses.
    unsigned target = 0;
    /// Makes the PTX without optimization, too, for the checks.
    bool unoptimized = false;
};

struct CompiledProgram {
    std::filesystem::path executable;  ///< beside it: NAME.ptx for each NAME.cu, if asked for
    std::string warnings;              ///< what nvcc has printed; empty where the program was kept
};

/// Runs a command of the compiler, which writes into this folder only.
using RunCompiler =
    std::function<Ended(std::vector<std::string> command, const std::filesystem::path& folder)>;

/// Has nvcc make a program, with line information and PTX only. It is kept in the user's cache
/// folder until one of the files changes that were compiled. `run` runs the commands of nvcc; null:
/// run_command() does, with `stop`. Throws CompileError with the messages of the compilers and of
/// the linker, NoCompiler, and std::runtime_error where files cannot be read or written.
CompiledProgram compile_program(const ProgramSource& source, const RunCompiler& run = nullptr,
                                const std::stop_token& stop = {});

}  // namespace warpscope::compiler
