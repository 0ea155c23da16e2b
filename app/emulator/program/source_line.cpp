#include "emulator/program/source_line.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace warpscope::emulator {
namespace {

constexpr std::string_view toolkit_folder = "cuda/";
constexpr std::string_view intrinsics = ".hpp";  // device_atomic_functions.hpp, cuda_fp16.hpp, …

bool has_file(std::int32_t file, const std::vector<std::string>& files) {
    return file >= 0 && std::size_t(file) < files.size() && !files[std::size_t(file)].empty();
}

std::string place(const std::string& own, const std::vector<HeaderLine>& inlined, bool full) {
    std::string notes;
    if (full && !inlined.empty() && inlined.front().toolkit) {
        std::string_view name = inlined.front().file;
        name.remove_prefix(name.starts_with(toolkit_folder) ? toolkit_folder.size() : 0);
        notes = fmt::format("in the toolkit's {}:{}", name, inlined.front().line);
    }
    const auto users = std::ranges::find(inlined, false, &HeaderLine::toolkit);
    std::string at = own;
    if (users != inlined.end()) {
        at = fmt::format("{}:{}", users->file, users->line);
        notes += fmt::format("{}called at {}", notes.empty() ? "" : ", ", own);
    }
    return notes.empty() ? at : fmt::format("{} ({})", at, notes);
}

}  // namespace

std::vector<HeaderLine> header_lines(const SourceLine& at, const std::vector<std::string>& files) {
    std::vector<HeaderLine> lines;
    if (!at.inlined) return lines;
    for (const FileLine& inlined : *at.inlined) {
        if (!has_file(inlined.file, files)) continue;
        const std::string& file = files[std::size_t(inlined.file)];
        const bool toolkit = file.starts_with(toolkit_folder);
        if (toolkit && file.ends_with(intrinsics)) continue;
        lines.push_back({file, inlined.line, toolkit});
    }
    return lines;
}

std::string users_place(const std::string& own, const std::vector<HeaderLine>& inlined) {
    return place(own, inlined, false);
}

std::string full_place(const std::string& own, const std::vector<HeaderLine>& inlined) {
    return place(own, inlined, true);
}

std::string own_line(const SourceLine& at, const std::vector<std::string>& files) {
    if (!has_file(at.file, files)) return fmt::format("PTX line {}", at.ptx_line);
    return fmt::format("{}:{}", files[std::size_t(at.file)], at.line);
}

std::string place_of(const SourceLine& at, const std::vector<std::string>& files) {
    return full_place(own_line(at, files), header_lines(at, files));
}

std::string load_place(const SourceLine& at, const std::vector<std::string>& files) {
    if (!has_file(at.file, files)) return place_of(at, files);
    return fmt::format("{}, PTX line {}", place_of(at, files), at.ptx_line);
}

namespace {

std::string demangled(const std::string& ptx_name) {
    if (!ptx_name.starts_with("_Z")) return ptx_name;  // "i" is the mangled name of a type, int
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(ptx_name.c_str(), nullptr, nullptr, &status), &std::free);
    return name ? name.get() : ptx_name;
}

}  // namespace

std::string source_name(const std::string& ptx_name) {
    const std::string name = demangled(ptx_name);
    const std::size_t scope = name.rfind("::");
    return scope == std::string::npos ? name : name.substr(scope + 2);
}

// A template's name comes with the type that it returns.
std::string function_name(const std::string& ptx_name) {
    const std::string name = demangled(ptx_name);
    std::size_t begin = 0;
    int depth = 0;  // of arguments of templates
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') ++depth;
        if (name[i] == '>') --depth;
        if (depth > 0) continue;
        if (name[i] == ' ' || name[i] == ':') begin = i + 1;
        if (name[i] == '(' && name.compare(i, 21, "(anonymous namespace)") != 0)
            return name.substr(begin, i - begin);
    }
    return name.substr(begin);
}

std::string kernel_name(const std::string& symbol) {
    std::string name = demangled(symbol);
    int depth = 0;  // a template argument may be a function type
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') ++depth;
        if (name[i] == '>') --depth;
        if (name[i] == '(' && depth == 0 && name.compare(i, 21, "(anonymous namespace)")) {
            name.resize(i);
            break;
        }
    }
    // Numba tells versions of a function apart by tags: "sum[abi:v1]".
    for (std::size_t tag; (tag = name.find("[abi:")) != name.npos;)
        name.erase(tag, name.find(']', tag) - tag + 1);
    // A template's name comes with the type that it returns.
    return name.starts_with("void ") ? name.substr(5) : name;
}

std::string with_kernel_name(std::string line, const std::string& symbol) {
    const std::size_t at = line.find(symbol);
    if (at != std::string::npos) line.replace(at, symbol.size(), kernel_name(symbol));
    return line;
}

}  // namespace warpscope::emulator
