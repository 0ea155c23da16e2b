#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "compiler/host/declarations.h"
#include "compiler/host/host_code.h"
#include "compiler/source_file.h"

namespace warpscope::compiler {
namespace {

/// What nvcc gives every source through <cuda_runtime.h>, and headers of the C and C++ standard
/// libraries: the compiler has no standard library, but it has their functions. The types and
/// limits are those of libcu++, whose headers may define them too.
constexpr std::string_view implied_text = R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define CHAR_BIT 8
#define INT_MAX   0x7fffffff
#define INT_MIN   (-INT_MAX - 1)
#define UINT_MAX  0xffffffff
#define LLONG_MAX  0x7fffffffffffffffLL
#define LLONG_MIN  (-LLONG_MAX - 1)
#define ULLONG_MAX 0xffffffffffffffffUL
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX  0x7fff
#define SHRT_MIN  (-SHRT_MAX - 1)
#define USHRT_MAX 0xffff
#define INT8_MIN   SCHAR_MIN
#define INT16_MIN  SHRT_MIN
#define INT32_MIN  INT_MIN
#define INT64_MIN  LLONG_MIN
#define INT8_MAX   SCHAR_MAX
#define INT16_MAX  SHRT_MAX
#define INT32_MAX  INT_MAX
#define INT64_MAX  LLONG_MAX
#define UINT8_MAX  UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define HUGE_VALF __int_as_float(0x7f800000)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
)";
/// Functions of <cmath> and <algorithm> that nvcc takes in device code.
constexpr std::array<std::string_view, 82> std_functions{
    "sqrt",     "cbrt",      "fabs",   "abs",     "fma",   "pow",   "exp",      "exp2",
    "expm1",    "log",       "log2",   "log10",   "log1p", "sin",   "cos",      "tan",
    "asin",     "acos",      "atan",   "atan2",   "sinh",  "cosh",  "tanh",     "asinh",
    "acosh",    "atanh",     "floor",  "ceil",    "round", "trunc", "rint",     "nearbyint",
    "fmod",     "remainder", "fmin",   "fmax",    "fdim",  "hypot", "copysign", "erf",
    "erfc",     "tgamma",    "lgamma", "ldexp",   "frexp", "modf",  "isnan",    "isinf",
    "isfinite", "signbit",   "lround", "llround", "lrint", "sqrtf", "fabsf",    "powf",
    "expf",     "logf",      "sinf",   "cosf",    "fmaf",  "fminf", "fmaxf",    "floorf",
    "ceilf",    "tanhf",     "roundf", "labs",    "llabs", "fmodf", "tanf",     "atan2f",
    "log2f",    "exp2f",     "log10f", "asinf",   "acosf", "atanf", "sinhf",    "coshf",
    "hypotf",   "truncf"};
/// Types of <cstddef> and <cstdint>.
constexpr std::array<std::string_view, 12> std_types{
    "size_t",  "ptrdiff_t", "int8_t",   "int16_t",  "int32_t",  "int64_t",
    "uint8_t", "uint16_t",  "uint32_t", "uint64_t", "intptr_t", "uintptr_t"};
constexpr std::string_view std_templates = R"(
template <class T> __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __device__ constexpr const T& clamp(const T& v, const T& low, const T& high) {
    return v < low ? low : high < v ? high : v;
}
template <class T> __device__ constexpr void swap(T& a, T& b) { T c = a; a = b; b = c; }
}
)";

/// Templates of the standard library that device code has from libcu++.
struct StdTemplates {
    std::string_view name, header;  ///< a source names them by a word that begins so
    std::string_view uses;          ///< what namespace std gets
};
constexpr std::string_view traits = "cuda/std/type_traits";
constexpr std::array<StdTemplates, 12> std_classes{
    {{"array", "cuda/std/array", "using ::cuda::std::array; using ::cuda::std::get;"},
     {"numeric_limits", "cuda/std/limits", "using ::cuda::std::numeric_limits;"},
     {"is_same", traits, "using ::cuda::std::is_same; using ::cuda::std::is_same_v;"},
     {"is_integral", traits, "using ::cuda::std::is_integral; using ::cuda::std::is_integral_v;"},
     {"is_floating_point", traits,
      "using ::cuda::std::is_floating_point; using ::cuda::std::is_floating_point_v;"},
     {"enable_if", traits, "using ::cuda::std::enable_if; using ::cuda::std::enable_if_t;"},
     {"conditional", traits, "using ::cuda::std::conditional; using ::cuda::std::conditional_t;"},
     {"remove_", traits,
      "using ::cuda::std::remove_reference_t; using ::cuda::std::remove_const_t;"
      "using ::cuda::std::remove_cv_t; using ::cuda::std::remove_pointer_t;"},
     {"decay", traits, "using ::cuda::std::decay; using ::cuda::std::decay_t;"},
     {"integral_constant", traits, "using ::cuda::std::integral_constant;"},
     {"pair", "cuda/std/utility", "using ::cuda::std::pair; using ::cuda::std::make_pair;"},
     {"tuple", "cuda/std/tuple",
      "using ::cuda::std::tuple; using ::cuda::std::make_tuple; using ::cuda::std::get;"}}};

/// Whether a text has "std::array", but not in "cuda::std::array".
bool names_std(std::string_view text, std::string_view name) {
    const std::string full = fmt::format("std::{}", name);
    for (std::size_t at = text.find(full); at != text.npos; at = text.find(full, at + 1))
        if (at == 0 || text[at - 1] != ':') return true;
    return false;
}

std::string std_text(std::span<const DeviceCode> codes) {
    std::string text;
    for (const auto& [name, header, uses] : std_classes)
        if (std::ranges::any_of(
                codes, [&](const DeviceCode& code) { return names_std(code.source, name); }))
            text += fmt::format("#include <{}>\nnamespace std {{ {} }}\n", header, uses);
    text += "namespace std {\n";
    for (const std::string_view name : std_functions) text += fmt::format("using ::{};\n", name);
    for (const std::string_view name : std_types) text += fmt::format("using ::{};\n", name);
    return text + std::string(std_templates);
}

/// Headers that have functions of the host, with what stands for them in device code.
constexpr std::string_view all_of_cub = "cub/cub.cuh", complex_of_thrust = "thrust/complex.h";
constexpr std::string_view complex_text =
    "#pragma once\n"
    "#include <cuda/std/complex>\n"
    "namespace thrust {\n"
    "using ::cuda::std::complex;\n"
    "using ::cuda::std::abs; using ::cuda::std::arg; using ::cuda::std::norm;\n"
    "using ::cuda::std::conj; using ::cuda::std::proj; using ::cuda::std::polar;\n"
    "using ::cuda::std::exp; using ::cuda::std::log; using ::cuda::std::pow;\n"
    "using ::cuda::std::sqrt; using ::cuda::std::sin; using ::cuda::std::cos;\n"
    "using ::cuda::std::tan; using ::cuda::std::sinh; using ::cuda::std::cosh;\n"
    "using ::cuda::std::tanh;\n"
    "}\n";
constexpr std::array<std::string_view, 13> cub_blocks{"AdjacentDifference",
                                                      "Discontinuity",
                                                      "Exchange",
                                                      "Histogram",
                                                      "Load",
                                                      "MergeSort",
                                                      "RadixRank",
                                                      "RadixSort",
                                                      "Reduce",
                                                      "RunLengthDecode",
                                                      "Scan",
                                                      "Shuffle",
                                                      "Store"};
constexpr std::array<std::string_view, 6> cub_warps{"Exchange", "Load", "MergeSort",
                                                    "Reduce",   "Scan", "Store"};

/// "block_radix_sort" of "BlockRadixSort"
std::string snake_case(std::string_view name) {
    std::string snake;
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (upper && !snake.empty()) snake += '_';
        snake += upper ? char(c - 'A' + 'a') : c;
    }
    return snake;
}

/// <cub/cub.cuh> with the classes that the texts name: all of them would take seconds.
std::string cub_text(std::span<const std::string> texts) {
    std::string text = "#pragma once\n#include <cub/thread/thread_operators.cuh>\n";
    const auto names = [&](std::string_view name) {
        return std::ranges::any_of(
            texts, [&](const std::string& one) { return one.find(name) != std::string::npos; });
    };
    const auto add = [&](std::string_view folder, std::string_view prefix, std::string_view name) {
        const std::string all = std::string(prefix) + std::string(name);
        if (names(all)) text += fmt::format("#include <cub/{}/{}.cuh>\n", folder, snake_case(all));
    };
    for (const std::string_view name : cub_blocks) add("block", "Block", name);
    for (const std::string_view name : cub_warps) add("warp", "Warp", name);
    for (const std::string_view name : {"Load", "Reduce", "Scan", "Store"})
        add("thread", "Thread", name);
    if (names("LoadDirect")) text += "#include <cub/block/block_load.cuh>\n";
    if (names("StoreDirect")) text += "#include <cub/block/block_store.cuh>\n";
    return text;
}

/// Headers of the CUDA Toolkit that have device code, or the beginnings of their names.
constexpr std::array<std::string_view, 23> device_headers{"cuda_fp16",
                                                          "cuda_bf16",
                                                          "cuda_fp8",
                                                          "cuda_pipeline",
                                                          "cuda_awbarrier",
                                                          "cub/block/",
                                                          "cub/warp/",
                                                          "cub/thread/",
                                                          "cub/iterator/",
                                                          "cub/util_type.cuh",
                                                          "cuda/",
                                                          "nv/",
                                                          "mma.h",
                                                          "cooperative_groups",
                                                          "curand_ke",
                                                          "vector_type",
                                                          "cuComplex.h",
                                                          "math_constants.h",
                                                          "thrust/pair.h",
                                                          "thrust/tuple.h",
                                                          "thrust/functional.h",
                                                          "thrust/iterator/counting_iterator.h",
                                                          "thrust/iterator/transform_iterator.h"};

/// Headers for the host that bring the types of half precision.
constexpr std::array<std::string_view, 3> half_headers{"cublas_v2.h", "cublasLt.h", "torch/"};
constexpr std::string_view half_text =
    "#if __has_include(<cuda_fp16.h>)\n"
    "#include <cuda_fp16.h>\n"
    "#include <cuda_bf16.h>\n"
    "#endif\n";

bool begins_with_one_of(std::string_view name, const auto& beginnings) {
    return std::ranges::any_of(beginnings,
                               [&](std::string_view known) { return name.starts_with(known); });
}

/// The texts of a source and of the headers that it includes, without #include of headers for host
/// code.
class Includes {
  public:
    using Folders = std::span<const std::filesystem::path>;
    explicit Includes(Folders folders) : folders_(folders.begin(), folders.end()) {}

    std::vector<std::string> texts, names, paths;  ///< in order; the first is the source
    std::vector<OwnFile> files;                    ///< likewise, with their whole texts
    std::vector<LeftOut> left_out;                 ///< of the source
    std::set<std::string_view> replaced;           ///< headers for which other texts stand
    bool brings_half = false;                      ///< a header that is left out has __half

    void read(std::string name, std::string source, const std::filesystem::path& path,
              const std::filesystem::path& found_in = {}) {
        const std::size_t index = texts.size();
        bytes_ += source.size();
        if (index >= most_headers || bytes_ > largest_headers)
            throw std::runtime_error(
                fmt::format("it includes more than {} headers or {} MiB of them", most_headers,
                            largest_headers >> 20));
        files.push_back({path.lexically_normal(), found_in, source});
        texts.push_back(source);
        names.push_back(std::move(name));
        paths.push_back(path.lexically_normal().string());
        for (const SourceToken& token : tokens_of(source)) {
            if (token.kind != SourceToken::Kind::directive) continue;
            const auto directive =
                std::string_view(source).substr(token.begin, token.end - token.begin);
            const auto included = included_by(directive);
            if (included.empty() || keep(included, directive, path.parent_path())) continue;
            blank(texts[index], token);
            brings_half = brings_half || begins_with_one_of(included, half_headers);
            if (index != 0) continue;
            const auto line =
                1 + std::count(source.begin(), source.begin() + std::ptrdiff_t(token.begin), '\n');
            const bool quoted = directive.find('"') != std::string_view::npos;
            left_out.push_back(
                {int(line), int(line),
                 fmt::format("#include of {}{}", included, quoted ? ", which was not found" : ""),
                 quoted ? std::string(included) : ""});
        }
    }

  private:
    /// The name in "#include <name>"; empty for another directive.
    static std::string_view included_by(std::string_view directive) {
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
        if (begins_with_one_of(name, device_headers)) return true;
        for (const std::string_view one : {all_of_cub, complex_of_thrust})
            if (name == one) {
                replaced.insert(one);
                return true;
            }
        std::vector<std::filesystem::path> searched = folders_;
        const bool is_quoted = directive.find('"') != std::string_view::npos;
        if (is_quoted) searched.insert(searched.begin(), folder);
        for (const std::filesystem::path& beside : searched) {
            const std::filesystem::path path = beside / name;
            std::error_code error;
            if (!std::filesystem::is_regular_file(path, error)) continue;
            if (seen_.insert(std::string(name)).second)
                read(std::string(name), read_source_file(path), path,
                     is_quoted && beside == folder ? std::filesystem::path() : beside);
            return true;
        }
        return false;
    }

    static void blank(std::string& text, const SourceToken& directive) {
        for (std::size_t i = directive.begin; i < directive.end; ++i)
            if (text[i] != '\n') text[i] = ' ';
    }

    std::vector<std::filesystem::path> folders_;
    std::set<std::string> seen_;
    std::size_t bytes_ = 0;
};

}  // namespace

std::vector<LeftOut> leave_out_host_code(Request& request, const std::filesystem::path& path,
                                         std::span<const std::filesystem::path> folders) {
    Includes includes(folders);
    includes.read("", request.source, path);
    std::vector<DeviceCode> codes = device_code(includes.texts, request.names);
    std::string implied(implied_text);
    implied += std_text(codes);
    if (includes.brings_half) implied += half_text;
    request.headers.push_back({std::string(implied_header), std::move(implied)});
    for (const std::string_view name : includes.replaced)
        request.headers.push_back({std::string(name), name == all_of_cub
                                                          ? cub_text(includes.texts)
                                                          : std::string(complex_text)});
    for (std::size_t i = 1; i < codes.size(); ++i)
        request.headers.push_back(
            {includes.names[i], std::move(codes[i].source), includes.paths[i]});
    request.source = std::move(codes[0].source);
    std::vector<LeftOut> left_out = std::move(includes.left_out);
    left_out.insert(left_out.end(), codes[0].left_out.begin(), codes[0].left_out.end());
    std::ranges::stable_sort(left_out, {}, &LeftOut::first_line);
    return left_out;
}

std::vector<OwnFile> own_files(const std::string& source, const std::filesystem::path& path,
                               std::span<const std::filesystem::path> folders) {
    Includes includes(folders);
    includes.read("", source, path);
    return std::move(includes.files);
}

std::string fingerprint(std::span<const OwnFile> files) {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 1099511628211u; };
    for (const OwnFile& file : files) {
        for (const char c : file.text) add(static_cast<unsigned char>(c));
        add(0);
    }
    return fmt::format("{:016x}", hash);
}

}  // namespace warpscope::compiler
