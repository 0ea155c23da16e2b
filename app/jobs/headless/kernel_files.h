#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "compute/helper/helpers.h"
#include "experiments/framework/experiment.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// A text that stands in for a kernel file of the build.
struct KernelFile {
    std::string file;  ///< "ripple" for kernels/ripple.cu
    std::filesystem::path from;
    std::string source;
    std::vector<compiler::Diagnostic> said{};  ///< by the compiler
};

/// Throws UsageError where there is no such file or folder; either may be empty.
void check_kernel_files(const std::filesystem::path& kernel_source,
                        const std::filesystem::path& kernels);

/// `kernel_source` for the experiment's own file as these parameters choose it, and from the folder
/// `kernels` every NAME.cu and gallery/NAME.cu that has a kernel file's name; either may be empty.
/// Throws UsageError where a file can't be read or the folder has none.
std::vector<KernelFile> read_kernel_files(const std::filesystem::path& kernel_source,
                                          const std::filesystem::path& kernels,
                                          const experiments::Entry& entry,
                                          std::span<const experiments::Assignment> assignments);

/// Compiles the texts that differ from the build's, each of them, and notes what the compiler says.
/// False where one has an error. Throws what Helpers::compile throws beyond CompileError.
bool compile(compute::Helpers& helpers, compute::Math math, std::vector<KernelFile>& files,
             compute::KernelEdits& edits);

/// Lines as compilers write them: "my.cu:3:7: error: identifier …".
std::string diagnostic_lines(const std::vector<KernelFile>& files);

/// [{file: "kernels/ripple.cu", from, warnings: [{line, column, text}, …]}, …]
Json to_json(const std::vector<KernelFile>& files);

}  // namespace warpscope::jobs
