#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpscope::compiler {

/// The compute capability that a kernel source is compiled for: 75, or 80 or 90 where the source
/// uses what only newer GPUs have, such as asynchronous copies and clusters. It is told by words,
/// not by the grammar: a word in a comment counts, too.
unsigned target_of(std::string_view source);

/// The targets that a person can choose.
inline constexpr std::array<unsigned, 3> targets{75, 80, 90};
/// The target that a message of the compiler says is needed, such as "is not supported before
/// SM_90": one of `targets`, or 0 where it names none.
unsigned target_named_in(std::string_view message);

enum class Severity { note, warning, error };

/// "note", "warning", "error".
inline std::string_view to_string(Severity severity) {
    switch (severity) {
        case Severity::note:
            return "note";
        case Severity::warning:
            return "warning";
        case Severity::error:
            break;
    }
    return "error";
}

/// A message of the compiler about a place in a kernel source.
struct Diagnostic {
    int line = 0;    ///< from 1; 0: about the whole source
    int column = 0;  ///< from 1; 0: unknown
    Severity severity = Severity::error;
    std::string text;  ///< "identifier \"tile\" is undefined"
    bool operator==(const Diagnostic&) const = default;
};

/// A kernel source can't be compiled. what() is the first error with its place, in one line.
struct CompileError : std::runtime_error {
    CompileError(const std::string& what, std::vector<Diagnostic> all)
        : std::runtime_error(what), diagnostics(std::move(all)) {}
    std::vector<Diagnostic> diagnostics;  ///< errors, warnings and notes, in the compiler's order
};

/// No compiler was found. what() says what to install.
struct NoCompiler : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A file that a source includes, and that the compiler gets in memory.
struct Header {
    std::string name;  ///< the name in the directive: "helper.h"
    std::string text;
    std::string path{};  ///< the path of its file, for messages: the compiler does not get it
    bool operator==(const Header&) const = default;
};

/// The name of a Header in the line information of PTX: "<helper.h>".
std::string header_in_ptx(std::string_view name);

/// A kernel source and the options that affect its PTX.
struct Request {
    std::string file;  ///< its name in messages and line information: "kernels/ripple.cu"
    std::string source;
    bool fast_math = false;  ///< nvcc's -use_fast_math
    /// If true, the PTX has debug information, which read_signatures() reads, and is not optimized.
    bool debug_info = false;
    /// Name expressions of NVRTC, such as "reduce<256, float>". The PTX contains these kernels even
    /// where they are made from templates.
    std::vector<std::string> names{};
    std::vector<Header> headers{};
    /// The compute capability that it is compiled for, one of `targets`. 0: that of target_of()
    /// its texts, or a newer one that a message of the compiler asks for.
    unsigned target = 0;
    bool operator==(const Request&) const = default;
};

struct Compiled {
    std::string ptx;  ///< in the form that portable_ptx() makes
    std::vector<Diagnostic> warnings;
    bool operator==(const Compiled&) const = default;
};

/// The largest kernel source that is compiled, in bytes.
inline constexpr std::size_t largest_source = std::size_t(1) << 20;
/// The most headers in memory, and the most bytes of all of them.
inline constexpr std::size_t most_headers = 64, largest_headers = std::size_t(4) << 20;

/// A header of this name is included before the source.
inline constexpr std::string_view implied_header = "implied.h";

/// Throws CompileError if the source, a header or a name expression is too long or has a byte that
/// the compiler can't handle.
void check_source(const Request& request);

/// The compiler's options for a request, without the paths of headers.
std::vector<std::string> options_of(const Request& request);

/// NVIDIA's run-time compiler (NVRTC), a library that is loaded at run time. Loading takes 5 ms, or
/// 240 ms the first time after a boot. Use it in a helper process: a source can make it hang or
/// crash.
class Nvrtc {
  public:
    /// Searches the path of the dynamic loader, then the folders of the CUDA Toolkit; or loads
    /// `library`. The library is never unloaded. Throws NoCompiler.
    explicit Nvrtc(const std::string& library = "");
    ~Nvrtc();
    Nvrtc(Nvrtc&&) noexcept;
    Nvrtc& operator=(Nvrtc&&) noexcept;

    const std::string& version() const { return version_; }  ///< "13.0"
    const std::string& path() const { return path_; }        ///< the path of the library
    /// The folders that NVRTC reads: its own, that of its headers, and that of files that a source
    /// includes by a relative name.
    std::vector<std::filesystem::path> readable() const;
    /// Throws CompileError with all messages of the compiler. Not thread-safe.
    Compiled compile(const Request& request) const;

  private:
    Compiled compile_once(const Request& request) const;
    struct Functions;
    std::unique_ptr<Functions> functions_;
    std::string version_, path_;
    std::vector<std::string> includes_;  ///< folders of the toolkit's headers
};

}  // namespace warpscope::compiler
