#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {

/// Whether a source has a function main(), so that nvcc can make a program of it.
bool has_main(std::string_view source);

/// Lines of a source that run on the host.
struct LeftOut {
    int first_line = 0, last_line = 0;
    std::string what;              ///< "the function main", "#include of iostream"
    std::string missing_header{};  ///< of an #include "name" whose file is not there; else empty
};

struct DeviceCode {
    std::string source;  ///< the text with blanks in place of host code: lines and columns stay
    std::vector<LeftOut> left_out;
};

/// CUDA sources and headers of one program without what only the host uses. What has a word such as
/// __global__ or __device__ stays, and the types, aliases, constants and constexpr functions that
/// it names, in any of the texts, and those that these name. All other functions and variables are
/// left out, also those in the types that stay. Macros and directives stay. Where braces do not
/// match, the rest of a text stays, so that the compiler names the fault. `names` are name
/// expressions of NVRTC, which may name types too.
std::vector<DeviceCode> device_code(std::span<const std::string> texts,
                                    std::span<const std::string> names = {});

/// Puts the device code of `request.source` in its place, without the #include of headers for host
/// code, and adds the device code of the headers that it includes by #include "name". They are
/// searched for beside the text that includes them, beside `path`, and in `folders`. Returns what
/// was left out of the source. Throws std::runtime_error for headers that are too many or too
/// large.
std::vector<LeftOut> leave_out_host_code(Request& request, const std::filesystem::path& path,
                                         std::span<const std::filesystem::path> folders = {});

/// A source, or a header that it includes by #include "name" or from one of the folders.
struct OwnFile {
    std::filesystem::path path, folder;  ///< `folder`: in which it was found; empty: beside
    std::string text;
};
/// Returns the source and then its own headers. Searches for them and throws as
/// leave_out_host_code() does.
std::vector<OwnFile> own_files(const std::string& source, const std::filesystem::path& path,
                               std::span<const std::filesystem::path> folders = {});
/// A number for the texts of the files, in hexadecimal digits: others have another one.
std::string fingerprint(std::span<const OwnFile> files);

/// "reduce" of "lib::reduce<256, float>": without namespaces and arguments.
std::string_view template_name(std::string_view name_expression);

/// A name expression for each template of a kernel in a source, in their order: "reduce<float,
/// 16>". The arguments are `float` for a type, `true` for a bool and 16 for another number.
std::vector<std::string> template_kernels(std::string_view source);

}  // namespace warpscope::compiler
