#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {

/// How a command has ended.
struct Ended {
    int status = 0;      ///< of waitpid()
    std::string output;  ///< what it has printed, on standard output and standard error

    bool done() const { return status == 0; }
};

/// Runs a program, which is searched for in PATH, with its arguments, in a process group of its own
/// and with nothing to read, and waits for its end. Then all that is left of its group ends. A stop
/// ends the group; a process that ignores that for two seconds is killed. Throws std::system_error
/// where the program can't be started. With a stop, `tell` gets what the command prints as it does.
Ended run_command(std::vector<std::string> command, const std::stop_token& stop = {},
                  const std::function<void(std::string_view printed)>& tell = {});

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
