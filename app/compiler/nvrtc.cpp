#include "compiler/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "compiler/nvrtc_output.h"
#include "compiler/programs/nvcc.h"

namespace warpscope::compiler {

unsigned target_of(std::string_view source) {
    unsigned target = 75;
    const auto note = [&](unsigned capability, std::string_view word) {
        if (source.find(word) != source.npos) target = std::max(target, capability);
    };
#define TARGET_WORD(capability, word) note(capability, word);
#include "compiler/target_words.def"
#undef TARGET_WORD
    return target;
}

unsigned target_named_in(std::string_view message) {
    unsigned named = 0;
    for (const unsigned target : targets)
        for (const std::string_view word :
             {"sm_", "SM_", "compute_", "compute capability ", "__CUDA_ARCH__ >= "}) {
            const std::string number = word.ends_with(' ') && word.starts_with("compute")
                                           ? fmt::format("{}.{}", target / 10, target % 10)
                                           : std::to_string(target);
            if (message.find(std::string(word) + number) != message.npos) named = target;
        }
    return named;
}

namespace {

namespace fs = std::filesystem;

// Declarations of nvrtc.h, which may not be installed, as far as they are used here. Source: CUDA
// "NVRTC" documentation, "User Interface".
using NvrtcProgram = void*;  // nvrtcProgram, which nvrtc.h leaves opaque
constexpr int nvrtc_success = 0, nvrtc_error_compilation = 6;  // nvrtcResult

constexpr std::size_t longest_name = 4096;  // for a name expression

// The names of the library, newest first. CUDA 11.2 to 11.8 have the last but one.
constexpr const char* names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                 "libnvrtc.so"};

/// The folders to search for the library, in order.
std::vector<fs::path> folders() {
    std::vector<fs::path> found;
    // NVIDIA's packages on PyPI name the folder "lib".
    for (const fs::path& toolkit : toolkits())
        for (const char* folder : {"lib64", "lib"}) found.push_back(toolkit / folder);
    if (const fs::path fetched = fetched_compiler("nvrtc"); !fetched.empty())
        found.push_back(fetched);
    return found;
}

std::string joined(const std::vector<fs::path>& paths) {
    std::string text;
    for (const fs::path& path : paths) text += (text.empty() ? "" : ", ") + path.string();
    return text;
}

/// Names for the dynamic loader to search for, and then paths.
std::vector<std::string> candidates() {
    std::vector<std::string> all(std::begin(names), std::end(names));
    for (const fs::path& folder : folders())
        for (const char* name : names) all.push_back(folder / name);
    return all;
}

std::string path_of(void* address) {
    Dl_info info{};
    if (!dladdr(address, &info) || !info.dli_fname) return "";
    std::error_code error;
    const fs::path path = fs::canonical(info.dli_fname, error);
    return error ? info.dli_fname : path.string();
}

/// The folders of the headers of the library's toolkit, such as <cuda_fp16.h>; empty if the library
/// was installed without a toolkit.
std::vector<std::string> include_folders(const fs::path& library) {
    std::error_code error;
    for (fs::path folder = library.parent_path(); folder.has_relative_path();
         folder = folder.parent_path()) {
        const fs::path include = folder / "include";
        if (!fs::exists(include / "cuda_fp16.h", error)) continue;
        std::vector<std::string> found{include.string()};
        if (fs::exists(include / "cccl", error)) found.push_back(include / "cccl");
        return found;
    }
    return {};
}

/// Loads the library of built-in headers that lies beside NVRTC. NVRTC opens it by its name alone
/// when it compiles. Where the loader does not search that works only if the library is loaded.
void load_builtins(const fs::path& nvrtc, const std::string& version) {
    const fs::path file = nvrtc.parent_path() / ("libnvrtc-builtins.so." + version);
    (void)dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
}

int line_at(std::string_view source, std::size_t byte) {
    return int(std::count(source.begin(), source.begin() + std::ptrdiff_t(byte), '\n')) + 1;
}

/// Returns where NVRTC silently ignores the rest: it takes either byte for the end of a text.
std::size_t end_of_text(std::string_view text) {
    return text.find_first_of(std::string_view("\0\xFF", 2));
}

std::string byte_name(char byte) {
    return fmt::format("byte 0x{:02x}", unsigned(static_cast<unsigned char>(byte)));
}

[[noreturn]] void refuse(const Request& request, int line, std::string text) {
    const Diagnostic diagnostic{line, 0, Severity::error, std::move(text)};
    throw CompileError(place_and_text(request, diagnostic), {diagnostic});
}

void check_headers(const Request& request) {
    std::size_t bytes = 0;
    for (const Header& header : request.headers) {
        bytes += header.text.size();
        const std::size_t end = end_of_text(header.text);
        if (end == std::string::npos && end_of_text(header.name) == std::string::npos) continue;
        refuse(request, 0,
               end == std::string::npos ? "a header has a name with a byte that is not allowed"
                                        : fmt::format("{} is not allowed in the header {}, line {}",
                                                      byte_name(header.text[end]), header.name,
                                                      line_at(header.text, end)));
    }
    if (request.headers.size() > most_headers || bytes > largest_headers)
        refuse(request, 0,
               fmt::format("its headers are {} files with {} KiB: at most {} with {} KiB can be "
                           "compiled",
                           request.headers.size(), (bytes + 1023) >> 10, most_headers,
                           largest_headers >> 10));
}

}  // namespace

void check_source(const Request& request) {
    const std::string& source = request.source;
    if (source.size() > largest_source)
        refuse(request, 0,
               fmt::format("the source has {} KiB: at most {} KiB can be compiled",
                           (source.size() + 1023) >> 10, largest_source >> 10));
    if (const std::size_t end = end_of_text(source); end != std::string::npos)
        refuse(request, line_at(source, end),
               fmt::format("{} is not allowed in a source", byte_name(source[end])));
    check_headers(request);
    for (const std::string& name : request.names) {
        if (name.size() > longest_name)
            refuse(request, 0,
                   fmt::format("the name of a kernel has {} bytes: at most {} are allowed",
                               name.size(), longest_name));
        if (const std::size_t end = end_of_text(name); end != std::string::npos)
            refuse(request, 0,
                   fmt::format("{} is not allowed in a kernel's name", byte_name(name[end])));
    }
}

struct Nvrtc::Functions {
    int (*version)(int*, int*) = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*create)(NvrtcProgram*, const char* source, const char* name, int headers,
                  const char* const* header_sources, const char* const* header_names) = nullptr;
    int (*destroy)(NvrtcProgram*) = nullptr;
    int (*compile)(NvrtcProgram, int options, const char* const*) = nullptr;
    int (*ptx_size)(NvrtcProgram, std::size_t*) = nullptr;
    int (*ptx)(NvrtcProgram, char*) = nullptr;
    int (*add_name)(NvrtcProgram, const char*) = nullptr;
    int (*log_size)(NvrtcProgram, std::size_t*) = nullptr;
    int (*log)(NvrtcProgram, char*) = nullptr;

    /// Loads the library at `path` and finds its functions. Throws NoCompiler.
    explicit Functions(const std::string& path) {
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library)
            throw NoCompiler(
                fmt::format("NVRTC, the compiler of edits, can't be loaded: {}", clean(dlerror())));
        find(library, version, "nvrtcVersion");
        find(library, error_string, "nvrtcGetErrorString");
        find(library, create, "nvrtcCreateProgram");
        find(library, destroy, "nvrtcDestroyProgram");
        find(library, compile, "nvrtcCompileProgram");
        find(library, ptx_size, "nvrtcGetPTXSize");
        find(library, ptx, "nvrtcGetPTX");
        find(library, add_name, "nvrtcAddNameExpression");
        find(library, log_size, "nvrtcGetProgramLogSize");
        find(library, log, "nvrtcGetProgramLog");
    }

    /// Returns the first library that can be loaded and has all functions. Throws NoCompiler.
    static std::unique_ptr<Functions> search() {
        for (const std::string& path : candidates()) {
            try {
                return std::make_unique<Functions>(path);
            } catch (const NoCompiler&) {
                // There is no such file, or it is another library.
            }
        }
        throw NoCompiler(fmt::format(
            "NVRTC, the compiler of edits, is not installed: install the CUDA Toolkit or NVIDIA's "
            "package cuda-nvrtc-13-0, or download it with Warpscope's script fetch_compiler, "
            "\"./run "
            "nvrtc\" in the repository (searched for {} in the path of the dynamic loader, {})",
            names[0], joined(folders())));
    }

    template <class Function>
    static void find(void* library, Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(library, name));
        if (!function)
            throw NoCompiler(fmt::format(
                "The NVRTC library that was found has no function {}: install another version",
                name));
    }

    void check(int status, std::string_view call) const {
        if (status != nvrtc_success)
            throw std::runtime_error(fmt::format("NVRTC: {}: {}", call, error_string(status)));
    }

    /// Calls a pair of functions, `size` and `get`, for a text. Removes its final NUL.
    std::string text(NvrtcProgram program, int (*size)(NvrtcProgram, std::size_t*),
                     int (*get)(NvrtcProgram, char*), std::string_view call) const {
        std::size_t bytes = 0;
        check(size(program, &bytes), call);
        std::string text(bytes, '\0');
        check(get(program, text.data()), call);
        while (text.ends_with('\0')) text.pop_back();
        return text;
    }
};

Nvrtc::Nvrtc(const std::string& library) {
    functions_ = library.empty() ? Functions::search() : std::make_unique<Functions>(library);
    int major = 0, minor = 0;
    functions_->check(functions_->version(&major, &minor), "nvrtcVersion");
    version_ = fmt::format("{}.{}", major, minor);
    path_ = path_of(reinterpret_cast<void*>(functions_->version));
    includes_ = include_folders(path_);
    load_builtins(path_, version_);
}

Nvrtc::~Nvrtc() = default;
Nvrtc::Nvrtc(Nvrtc&&) noexcept = default;
Nvrtc& Nvrtc::operator=(Nvrtc&&) noexcept = default;

std::vector<fs::path> Nvrtc::readable() const {
    std::vector<fs::path> all{fs::path(path_).parent_path(), "kernels"};
    for (const std::string& folder : includes_) all.emplace_back(folder);
    return all;
}

std::string header_in_ptx(std::string_view name) {
    return fmt::format("<{}>", name);
}

namespace {

unsigned chosen_target(const Request& request) {
    if (request.target) return request.target;
    unsigned target = target_of(request.source);
    for (const Header& header : request.headers) target = std::max(target, target_of(header.text));
    return target;
}

}  // namespace

std::vector<std::string> options_of(const Request& request) {
    // 1444 is the warning for deprecated names such as double4.
    std::vector<std::string> options{
        fmt::format("--gpu-architecture=compute_{}", chosen_target(request)), "--std=c++17",
        "--diag-suppress=1444"};
    options.emplace_back(request.debug_info ? "--device-debug" : "--generate-line-info");
    if (request.fast_math) options.emplace_back("--use_fast_math");
    if (std::ranges::find(request.headers, implied_header, &Header::name) != request.headers.end())
        options.push_back(fmt::format("--pre-include={}", implied_header));
    return options;
}

Compiled Nvrtc::compile(const Request& request) const {
    try {
        return compile_once(request);
    } catch (const CompileError& error) {
        Request newer = request;
        for (const Diagnostic& one : error.diagnostics)
            if (one.severity == Severity::error)
                newer.target = std::max(newer.target, target_named_in(one.text));
        if (request.target || newer.target <= chosen_target(request)) throw;
        return compile_once(newer);
    }
}

Compiled Nvrtc::compile_once(const Request& request) const {
    check_source(request);
    const Functions& nvrtc = *functions_;
    NvrtcProgram program = nullptr;
    std::vector<const char*> header_names, header_texts;
    for (const Header& header : request.headers) {
        header_names.push_back(header.name.c_str());
        header_texts.push_back(header.text.c_str());
    }
    nvrtc.check(nvrtc.create(&program, request.source.c_str(), request.file.c_str(),
                             int(header_names.size()), header_texts.data(), header_names.data()),
                "nvrtcCreateProgram");
    const auto destroy = [&](void*) { nvrtc.destroy(&program); };
    const std::unique_ptr<void, decltype(destroy)> owner(&program, destroy);
    for (const std::string& name : request.names)
        nvrtc.check(nvrtc.add_name(program, name.c_str()), "nvrtcAddNameExpression");

    std::vector<std::string> options = options_of(request);
    for (const std::string& folder : includes_) options.push_back("-I" + folder);
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    const int status = nvrtc.compile(program, int(words.size()), words.data());
    auto diagnostics =
        read_log(nvrtc.text(program, nvrtc.log_size, nvrtc.log, "nvrtcGetProgramLog"), request);
    if (status == nvrtc_success) {
        const std::string ptx = nvrtc.text(program, nvrtc.ptx_size, nvrtc.ptx, "nvrtcGetPTX");
        return {portable_ptx(ptx, request, fs::current_path().string()), std::move(diagnostics)};
    }

    const auto first = std::find_if(diagnostics.begin(), diagnostics.end(),
                                    [](const auto& d) { return d.severity == Severity::error; });
    if (status == nvrtc_error_compilation && first != diagnostics.end()) {
        const std::string what = place_and_text(request, *first);
        throw CompileError(what, std::move(diagnostics));
    }
    diagnostics.insert(
        diagnostics.begin(),
        {0, 0, Severity::error, fmt::format("NVRTC failed: {}", nvrtc.error_string(status))});
    const std::string what = place_and_text(request, diagnostics.front());
    throw CompileError(what, std::move(diagnostics));
}

}  // namespace warpscope::compiler
