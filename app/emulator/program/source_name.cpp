#include "emulator/program/source_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace warpscope::emulator {

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
