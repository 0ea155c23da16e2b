#include "emulator/program/module.h"

#include <fmt/format.h>

namespace warpscope::emulator {

namespace {

bool has_file(const SourceLine& at, const std::vector<std::string>& files) {
    return at.file >= 0 && size_t(at.file) < files.size() && !files[size_t(at.file)].empty();
}

}  // namespace

std::string place_of(const SourceLine& at, const std::vector<std::string>& files) {
    if (!has_file(at, files)) return fmt::format("PTX line {}", at.ptx_line);
    return fmt::format("{}:{}", files[size_t(at.file)], at.line);
}

std::string load_place(const SourceLine& at, const std::vector<std::string>& files) {
    if (!has_file(at, files)) return place_of(at, files);
    return fmt::format("{}, PTX line {}", place_of(at, files), at.ptx_line);
}

const Kernel* Module::find(std::string_view kernel_name) const {
    for (const auto& kernel : kernels_)
        if (kernel->name == kernel_name) return kernel.get();
    return nullptr;
}

std::string Kernel::where(std::uint32_t index) const {
    return place_of(lines[index].source, module->files());
}

}  // namespace warpscope::emulator
