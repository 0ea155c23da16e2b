#include "programs/report/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace warpscope::programs {

std::string kernel_name(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> whole(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    if (status || !whole) return symbol;
    std::string name = whole.get();
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

}  // namespace warpscope::programs
