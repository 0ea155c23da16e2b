#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/helper/helpers.h"
#include "experiments/launch/open_launch.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// A kernel source that replaces a built-in kernel file.
struct KernelFile {
    std::string file;  ///< "ripple" for kernels/ripple.cu
    std::filesystem::path from;
    std::string source;
    std::vector<compiler::Diagnostic> said{};  ///< what the compiler said, in its order
};

/// Throws UsageError if the file can't be opened or the folder does not exist. Reads neither of
/// them: the window does that. An empty path is not checked.
void check_kernel_files(const std::filesystem::path& kernel_source,
                        const std::filesystem::path& kernels);

/// Reads `kernel_source`, which replaces the kernel file that the experiment uses with these
/// parameters, and every NAME.cu of the folder `kernels` that has the name of a kernel file. Either
/// path may be empty. Throws UsageError if a file can't be read or the folder has no kernel file.
std::vector<KernelFile> read_kernel_files(const std::filesystem::path& kernel_source,
                                          const std::filesystem::path& kernels,
                                          const experiments::Entry& entry,
                                          std::span<const experiments::Assignment> assignments);

/// Compiles every source that differs from the built-in one and keeps the compiler's diagnostics in
/// KernelFile::said. False if a source has an error. Throws what Helpers::compile throws, except
/// CompileError.
bool compile(compute::Helpers& helpers, compute::Math math, std::vector<KernelFile>& files,
             compute::KernelEdits& edits, const std::stop_token& stop = {});

/// Compiles the kernels of a launch file. Prints what was left out of the source and the compiler's
/// messages to standard error. nullopt if the source does not compile. Throws what open_launch()
/// throws, except CompileError.
std::optional<experiments::CompiledEntry> compile_launch(compute::Helpers& helpers,
                                                         const launches::LaunchFile& file,
                                                         compute::Math math,
                                                         const std::stop_token& stop = {});

/// Diagnostics in the format of compilers, one a line: "my.cu:3:7: error: identifier …".
std::string diagnostic_lines(const std::filesystem::path& from,
                             std::span<const compiler::Diagnostic> said);
std::string diagnostic_lines(const std::vector<KernelFile>& files);

/// [{file: "kernels/ripple.cu", from, warnings: [{line, column, text}, …]}, …]
Json to_json(const std::vector<KernelFile>& files);

}  // namespace warpscope::jobs
