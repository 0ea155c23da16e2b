#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/diagnostic.h"

namespace warpscope::compute {

/// Which build of the kernels runs: IEEE-rounded, or nvcc's -use_fast_math.
enum class Math { precise, fast };

/// A person's text of a kernel file, compiled: it stands in for the file of the build.
struct KernelEdit {
    std::string file;    ///< "ripple" for kernels/ripple.cu, "gallery/life"
    std::string source;  ///< as typed
    Math math = Math::precise;
    std::string ptx;  ///< for compute_75, with line information that says "kernels/ripple.cu"
    std::vector<compiler::Diagnostic> warnings;
    std::string from{};  ///< the file that the text was read from, as it was named; empty: typed
};

/// By file. Two sets are equal where they hold the very same edits.
using KernelEdits = std::map<std::string, std::shared_ptr<const KernelEdit>, std::less<>>;

/// Source texts by file, as they were typed or read: {"ripple", "…"}.
using Sources = std::map<std::string, std::string, std::less<>>;

}  // namespace warpscope::compute
