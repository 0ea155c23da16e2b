#include "emulator/program/source_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace warpscope::emulator {

std::string source_name(const std::string& ptx_name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        abi::__cxa_demangle(ptx_name.c_str(), nullptr, nullptr, &status), &std::free);
    const std::string name = demangled ? demangled.get() : ptx_name;
    const std::size_t scope = name.rfind("::");
    return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace warpscope::emulator
