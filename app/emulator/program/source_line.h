#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace warpscope::emulator {

/// A line of a file of Module::files().
struct FileLine {
    std::int32_t file = -1;
    std::int32_t line = 0;
};

/// A call of a function in whose body an instruction stands. The compiler or the emulator has
/// inlined it.
struct SourceCall {
    /// Its name in the PTX; or the label of the name in the section .debug_str, where the compiler
    /// has inlined it; empty: it is not known.
    std::string function{};
    FileLine site{};             ///< the line that calls it; no file: it is not known
    std::int32_t ptx_line = 0;   ///< of the call; 0: the compiler has inlined it
    std::uint32_t instance = 0;  ///< of the function in the kernel: RegisterInfo::instance
    std::shared_ptr<const SourceCall> caller{};  ///< null: the kernel
};

/// Where an instruction comes from: a line of the kernel's own file, which may have called a
/// function of another file that the compiler inlined.
struct SourceLine {
    std::int32_t file = -1;  ///< index into Module::files(); -1 if the PTX has no .loc
    std::int32_t line = 0;
    std::int32_t ptx_line = 0;
    /// The lines of other files from which the instruction was inlined into `line`: first the one
    /// in which it stands, then its caller, and so on. Null if it stands in `line` itself.
    std::shared_ptr<const std::vector<FileLine>> inlined{};
    FileLine own{};                            ///< the line in which it stands, of any file
    std::shared_ptr<const SourceCall> call{};  ///< in whose body; null: it is the kernel's own
};

/// The most lines of SourceLine::inlined. The outer calls of longer chains are left out.
inline constexpr std::size_t most_inlined = 64;

/// A line of a header from which code was inlined.
struct HeaderLine {
    std::string file;
    int line = 0;
    /// True for headers of the CUDA Toolkit, false for the user's. compiler::portable_ptx() and
    /// cmake/portable_ptx.py give headers of the toolkit names that begin with "cuda/".
    bool toolkit = false;
};

/// Returns SourceLine::inlined with the names of the files. Files without a name are left out, and
/// headers of intrinsics such as atomicAdd(), because their lines explain nothing.
std::vector<HeaderLine> header_lines(const SourceLine& at, const std::vector<std::string>& files);

/// Returns the user's line in which code stands that the line `own` of the kernel's file calls:
/// "tile.h:14 (called at mine.cu:9)". Returns just "mine.cu:9" if the code stands there, or in a
/// header of the toolkit.
std::string users_place(const std::string& own, const std::vector<HeaderLine>& inlined);
/// Returns users_place() with the line of the toolkit's header in which the code stands: "mine.cu:9
/// (in the toolkit's block_reduce.cuh:120)".
std::string full_place(const std::string& own, const std::vector<HeaderLine>& inlined);

/// The line of the kernel's file: "file.cu:12"; "PTX line 34" if the PTX has no line information.
std::string own_line(const SourceLine& at, const std::vector<std::string>& files);
/// Returns full_place() for an instruction.
std::string place_of(const SourceLine& at, const std::vector<std::string>& files);
/// Returns the place for errors at loading: "file.cu:12, PTX line 34".
std::string load_place(const SourceLine& at, const std::vector<std::string>& files);

/// Returns the name of a variable in the source, without namespaces and functions around it: "tile"
/// for _ZZ4drawPjiifibE4tile, which is draw(unsigned int*, …)::tile.
std::string source_name(const std::string& ptx_name);

/// Returns the name of a function likewise, without its parameters: "fib" for _Z3fibi.
std::string function_name(const std::string& ptx_name);

/// Returns the name of a kernel in the source, without parameters: "dot" for "_Z3dotPKfS0_Pf",
/// "sum<256>" for a template. Other names stay.
std::string kernel_name(const std::string& symbol);
/// Returns the line with that name where it first names the symbol.
std::string with_kernel_name(std::string line, const std::string& symbol);

}  // namespace warpscope::emulator
