#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diagnostic.h"

namespace warpscope::compiler {

/// A kernel file's text and how it is to be compiled. Texts that are not equal in all of it are
/// other texts to the cache.
struct Request {
    std::string file;  ///< as messages and line information name it: "kernels/ripple.cu"
    std::string source;
    bool fast_math = false;  ///< nvcc's -use_fast_math
    bool operator==(const Request&) const = default;
};

struct Compiled {
    std::string ptx;  ///< for compute_75, with line information that names Request::file
    std::vector<Diagnostic> warnings;
    bool operator==(const Compiled&) const = default;
};

/// The largest text that is compiled, in bytes.
inline constexpr std::size_t largest_source = std::size_t(1) << 20;

/// Throws CompileError where a text is not for the compiler to see: a NUL byte, or too long.
void check_source(const Request& request);

/// What the compiler is told beside the text, but for where the toolkit's headers are.
std::vector<std::string> options_of(const Request& request);

/// NVIDIA's run-time compiler, a library that is looked for when the program runs. Loading it takes
/// 5 ms, or 240 ms the first time after a boot. Compiling may take any time, and hostile texts may
/// crash it: for a helper process.
class Nvrtc {
  public:
    /// Looks in the loader's path, then in the folders of the CUDA Toolkit; or takes `library`
    /// alone. Stays loaded until the process ends. Throws NoCompiler, which says what to install.
    explicit Nvrtc(const std::string& library = "");
    ~Nvrtc();
    Nvrtc(Nvrtc&&) noexcept;
    Nvrtc& operator=(Nvrtc&&) noexcept;

    const std::string& version() const { return version_; }  ///< "13.0"
    const std::string& path() const { return path_; }        ///< of the library
    /// Throws CompileError with all that the compiler says. One thread at a time.
    Compiled compile(const Request& request) const;

  private:
    struct Functions;
    std::unique_ptr<Functions> functions_;
    std::string version_, path_;
    std::vector<std::string> includes_;  ///< options that name the toolkit's headers
};

}  // namespace warpscope::compiler
