#include "emulator/program/module.h"

namespace warpscope::emulator {

const Kernel* Module::find(std::string_view kernel_name) const {
    for (const auto& kernel : kernels_)
        if (kernel->name == kernel_name) return kernel.get();
    return nullptr;
}

std::string Kernel::own_line(std::uint32_t index) const {
    return emulator::own_line(lines[index].source, module->files());
}

std::string Kernel::where(std::uint32_t index) const {
    return place_of(lines[index].source, module->files());
}

}  // namespace warpscope::emulator
