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

std::size_t statement_begin(std::string_view text, const InstructionInfo& info) {
    std::size_t at = 0;
    for (int k = 1; k < info.source.ptx_line; ++k) at = text.find('\n', at) + 1;
    const std::size_t begin = text.find(info.text, at);
    return begin < text.find('\n', at) ? begin : text.npos;
}

}  // namespace warpscope::emulator
