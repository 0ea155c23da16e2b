#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "compiler/host/host_code.h"
#include "compiler/host/source_tokens.h"
#include "compiler/source_file.h"

namespace warpscope::compiler {
namespace {

constexpr std::size_t most_headers = 64;
constexpr std::size_t most_bytes = std::size_t(4) << 20;

/// Headers of the C and C++ standard libraries whose declarations device code uses. The compiler
/// has no standard library, but it has their functions. The declarations are those of a 64-bit
/// Linux system.
constexpr std::string_view integer_types = R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
)";
constexpr std::string_view limits = R"(#pragma once
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LLONG_MAX 9223372036854775807LL
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
)";
constexpr std::string_view mathematics = R"(#pragma once
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
)";

struct KnownHeader {
    std::string_view name, text;
};
constexpr std::array known_headers{KnownHeader{"stdint.h", integer_types},
                                   KnownHeader{"cstdint", integer_types},
                                   KnownHeader{"inttypes.h", integer_types},
                                   KnownHeader{"limits.h", limits},
                                   KnownHeader{"climits", limits},
                                   KnownHeader{"float.h", limits},
                                   KnownHeader{"cfloat", limits},
                                   KnownHeader{"math.h", mathematics},
                                   KnownHeader{"cmath", mathematics}};

/// Headers of the CUDA Toolkit that have device code, or the beginnings of their names.
constexpr std::array<std::string_view, 12> device_headers{
    "cuda_fp16", "cuda_bf16",   "cuda_fp8", "cuda_pipeline", "cooperative_groups", "cub/",
    "cuda/",     "curand_kern", "mma.h",    "vector_types",  "cuComplex.h",        "nv/"};

/// Replaces the #include directives of one text and of the headers that it includes.
class Includes {
  public:
    Includes(std::vector<Header>& headers, std::vector<LeftOut>& left_out)
        : headers_(headers), left_out_(left_out) {}

    void replace(std::string& source, const std::filesystem::path& folder) {
        const std::string text = source;
        for (const SourceToken& token : tokens_of(text)) {
            if (token.kind != SourceToken::Kind::directive) continue;
            const std::string_view directive =
                std::string_view(text).substr(token.begin, token.end - token.begin);
            const auto name = included(directive);
            if (name.empty() || keep(name, directive, folder)) continue;
            std::fill(source.begin() + std::ptrdiff_t(token.begin),
                      source.begin() + std::ptrdiff_t(token.end), ' ');
            const auto line =
                1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(token.begin), '\n');
            if (depth_ == 0)
                left_out_.push_back({int(line), int(line), "#include of " + std::string(name)});
        }
    }

  private:
    /// The name in "#include <name>"; empty for another directive.
    static std::string_view included(std::string_view directive) {
        constexpr std::string_view word = "include", blanks = " \t";
        directive.remove_prefix(std::min(directive.find_first_not_of(blanks, 1), directive.size()));
        if (!directive.starts_with(word)) return {};
        const std::size_t open = directive.find_first_of("<\"", word.size());
        if (open == std::string_view::npos) return {};
        const std::size_t close = directive.find_first_of(">\"", open + 1);
        if (close == std::string_view::npos) return {};
        return directive.substr(open + 1, close - open - 1);
    }

    bool keep(std::string_view name, std::string_view directive,
              const std::filesystem::path& folder) {
        const bool begins = std::ranges::any_of(
            device_headers, [&](std::string_view known) { return name.starts_with(known); });
        if (begins) return true;
        for (const KnownHeader& known : known_headers)
            if (known.name == name) return add(std::string(name), std::string(known.text)), true;
        const bool quoted = directive.find('"') != std::string_view::npos;
        std::error_code error;
        const std::filesystem::path path = folder / name;
        if (!quoted || !std::filesystem::is_regular_file(path, error)) return false;
        if (!seen_.insert(std::string(name)).second) return true;
        DeviceCode code = device_code(read_source_file(path));
        ++depth_;
        replace(code.source, path.parent_path());
        --depth_;
        add(std::string(name), std::move(code.source));
        return true;
    }

    void add(std::string name, std::string text) {
        const auto same = [&](const Header& header) { return header.name == name; };
        if (std::ranges::any_of(headers_, same)) return;
        bytes_ += text.size();
        if (headers_.size() == most_headers || bytes_ > most_bytes)
            throw std::runtime_error(
                fmt::format("it includes more than {} headers or {} MiB of them", most_headers,
                            most_bytes >> 20));
        headers_.push_back({std::move(name), std::move(text)});
    }

    std::vector<Header>& headers_;
    std::vector<LeftOut>& left_out_;
    std::set<std::string> seen_;
    std::size_t bytes_ = 0;
    int depth_ = 0;
};

}  // namespace

std::vector<LeftOut> leave_out_host_code(Request& request, const std::filesystem::path& path) {
    DeviceCode code = device_code(request.source);
    Includes(request.headers, code.left_out).replace(code.source, path.parent_path());
    std::ranges::sort(code.left_out, {}, &LeftOut::first_line);
    request.source = std::move(code.source);
    return std::move(code.left_out);
}

}  // namespace warpscope::compiler
