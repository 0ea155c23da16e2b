#include "emulator/observe/observed_launch.h"

namespace warpscope::emulator {

void ObservedLaunch::begin(const Kernel& kernel, const LaunchShape& launch) {
    kernel_ = &kernel;
    shape_ = launch;
}

ThreadAtLine ObservedLaunch::at(std::uint32_t pc, std::uint32_t thread, std::uint32_t block) const {
    const SourceLine& source = kernel_->lines[pc].source;
    const auto& files = kernel_->module->files();
    ThreadAtLine at;
    if (source.file >= 0 && std::size_t(source.file) < files.size())
        at.file = files[std::size_t(source.file)];
    at.line = at.file.empty() ? source.ptx_line : source.line;
    at.inlined = header_lines(source, files);
    at.thread = index_in(shape_.block, thread);
    at.block = index_in(shape_.grid, block);
    return at;
}

}  // namespace warpscope::emulator
