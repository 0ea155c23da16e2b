#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    /// The folder in which a capture has copies of the sources of a program, with a slash at its
    /// end: people know `from` and the headers without it. Empty: they are no copies.
    std::string copies{};
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

/// "kernels/ripple.cu" for the kernel file "ripple": its name in the line information of PTX, in
/// messages and in metadata.
std::string kernel_path(std::string_view file);

/// The kernel file at a kernel_path(): "ripple"; empty for another path.
std::string kernel_file(std::string_view path);

/// The built-in source of the kernel file at a kernel_path(), or the launch file at
/// "kernels/gallery/life.launch.json"; an unknown path gives an empty text.
std::string_view kernel_source(std::string_view path);

/// A built-in image of a kernel file: "precise/dot.ptx" and "fast/gallery/life.ptx" are the
/// committed texts in kernels/ptx/; "precise/dot.fatbin" is the toolkit's output for GPUs, only in
/// builds with CUDA. Empty for an unknown name.
std::string_view embedded_kernel_image(std::string_view name);

/// The PTX of kernels/`file`.cu with this math. Throws DeviceError if the app has none.
std::string_view kernel_ptx(std::string_view file, Math math);

/// The machine code of kernels/`file`.cu for GPUs; empty in a build without nvcc.
std::string_view kernel_binary(std::string_view file, Math math);

/// Explains a person's text of kernels/`file`.cu that defines kernels which Warpscope runs from
/// another kernel file, as texts do that are older than the division of ripple.cu. Returns one
/// sentence for each such other file, which names a kernel and says where it belongs. `ptx` is the
/// compiled text.
std::vector<std::string> moved_kernels(std::string_view file, std::string_view ptx);

}  // namespace warpscope::compute
