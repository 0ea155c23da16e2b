#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/nvrtc.h"
#include "compiler/signature.h"
#include "launches/files/launch_file.h"

// Launches of programs whose source is not there, or is not what the program was compiled from.

namespace warpscope::launches {

/// Whether the source of the launch file is a PTX text, which needs no compiler.
bool is_ptx(const LaunchFile& file);

/// What a PTX text says of its kernels and variables. It has no types: a parameter is a pointer
/// where a launch of `file` passes a buffer, and a number else; what a pointer points to follows
/// from the arithmetic of the kernel.
struct PtxKernels {
    std::vector<compiler::Signature> signatures;
    std::vector<compiler::ModuleVariable> variables;
};
/// Throws compiler::CompileError if the emulator does not know the PTX.
PtxKernels kernels_of_ptx(const std::string& ptx, const LaunchFile& file);

/// The PTX that the program of a captured launch has run, if `source` is what it was compiled from.
/// Its lines are those of `source_name`. nullopt: there is none. Throws LaunchError if the file
/// cannot be read.
std::optional<std::string> ptx_of_program(const LaunchFile& file, const std::string& source,
                                          const std::string& source_name);
/// Whether the source of a captured launch, or one of its headers, was changed since. Throws
/// LaunchError if it cannot be read.
bool has_other_source(const LaunchFile& file);
/// The folder sources/FINGERPRINT in which a capture has copies of a source and its headers; empty
/// where the source of a launch file is in no folder of that kind.
std::filesystem::path folder_of_copies(const std::filesystem::path& source);
/// Whether a PTX text has the kernel with this name. nvcc gives kernels that are static in their
/// source other names than NVRTC does.
bool has_kernel(const std::string& ptx, const std::string& entry);

/// A note for each array in shared memory that the code without optimization uses and the optimized
/// code does not: the compiler has removed it, because no result depends on it, and the checks
/// cannot see its accesses. `source` is the name of the source in the line information. Lines of
/// other files are not given. Empty where the emulator can't read one of the two PTX texts.
std::vector<compiler::Diagnostic> removed_arrays(std::string_view optimized,
                                                 std::string_view unoptimized,
                                                 std::string_view source);

/// As removed_arrays(), where only the optimized code is known: arrays that the text of the source
/// declares and the PTX does not have. Looks at functions whose kernels are in the PTX, and not
/// between an #if and an #endif.
std::vector<compiler::Diagnostic> arrays_not_in(std::string_view ptx, std::string_view source);

}  // namespace warpscope::launches
