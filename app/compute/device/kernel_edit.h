#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diagnostic.h"
#include "compiler/nvrtc.h"

namespace warpscope::compute {

/// Which build of the kernels runs: IEEE-rounded, or nvcc's -use_fast_math.
enum class Math { precise, fast };

/// A kernel source that replaces a built-in kernel file, with its PTX.
struct KernelEdit {
    std::string file;    ///< "ripple" for kernels/ripple.cu, "gallery/life"
    std::string source;  ///< CUDA C++
    Math math = Math::precise;
    std::string ptx;  ///< its line information names "kernels/ripple.cu"
    std::vector<compiler::Diagnostic> warnings;
    std::string unoptimized{};  ///< PTX of the source without optimization; empty: there is none
    std::string from{};         ///< the path that the user gave; empty if typed in the editor
    /// Kernels whose name in the source differs from that in the PTX, where C++ mangles it.
    std::map<std::string, std::string> names{};
    /// The paths of the headers that the source includes, by compiler::header_in_ptx().
    std::map<std::string, std::string> headers{};
    /// The request of an edit whose PTX was found in the cache; null: the PTX was compiled now.
    std::shared_ptr<const compiler::Request> kept{};
};

/// The edit with another PTX. `edit.kept` is not kept: the other text is in no cache.
inline std::shared_ptr<const KernelEdit> with_ptx(KernelEdit edit, std::string ptx) {
    edit.ptx = std::move(ptx);
    edit.kept = nullptr;
    return std::make_shared<const KernelEdit>(std::move(edit));
}

/// Edits by file. Two maps are equal if they point at the same objects.
using KernelEdits = std::map<std::string, std::shared_ptr<const KernelEdit>, std::less<>>;

/// Kernel sources by file: {"ripple", "…"}.
using Sources = std::map<std::string, std::string, std::less<>>;

}  // namespace warpscope::compute
