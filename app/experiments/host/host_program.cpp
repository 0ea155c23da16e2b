#include "experiments/host/host_program.h"

#include <algorithm>
#include <cctype>

#include "emulator/machine/machine.h"
#include "experiments/host/host_reader.h"
#include "experiments/host/preprocessor/preprocessor.h"

namespace warpscope::experiments {

std::optional<std::string> device_limit(std::string_view name) {
    if (name == "multiProcessorCount" || name == "cudaDevAttrMultiProcessorCount")
        return std::to_string(emulator::Machine::default_virtual_sms);
    if (name == "warpSize" || name == "cudaDevAttrWarpSize") return "32";
    if (name == "maxThreadsPerBlock" || name == "cudaDevAttrMaxThreadsPerBlock") return "1024";
    if (name == "sharedMemPerBlock" || name == "cudaDevAttrMaxSharedMemoryPerBlock") return "49152";
    if (name == "pageableMemoryAccess" || name == "cudaDevAttrPageableMemoryAccess") return "0";
    return std::nullopt;
}

std::optional<std::string> HostProgram::value_of(std::string_view name) const {
    if (const auto known = values.find(name); known != values.end()) return known->second;
    if (!is_member(name) || name.size() > longest_name) return std::nullopt;
    const std::size_t sign = name.rfind('$');
    if (auto limit = device_limit(name.substr(sign + 1))) return limit;
    auto object = value_of(name.substr(0, sign));
    if (object && object->starts_with("& ")) object->erase(0, 2);
    if (!object || object->find(' ') != std::string::npos) return std::nullopt;
    return *object + std::string(name.substr(sign));
}

std::string first_name(const HostProgram& program, std::string name) {
    for (int depth = 0; depth < 8; ++depth) {
        const auto value = program.value_of(name);
        const bool is_name =
            value && !value->empty() && (std::isalpha((*value)[0]) || (*value)[0] == '_');
        if (!is_name || value->find(' ') != value->npos || *value == "nullptr" || *value == "NULL")
            break;
        name = *value;
    }
    return name;
}

HostProgram read_host_program(std::string_view source, std::size_t own) {
    const auto lines = std::ranges::count(source.substr(0, own), '\n');
    const std::string text = with_launching_macros(without_inactive_branches(source));
    return HostReader(text, int(lines)).read();
}

}  // namespace warpscope::experiments
