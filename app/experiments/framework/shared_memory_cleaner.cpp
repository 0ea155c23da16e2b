#include "experiments/framework/shared_memory_cleaner.h"

#include <algorithm>

namespace warpscope::experiments {

SharedMemoryCleaner::SharedMemoryCleaner(compute::Device& device)
    : device_(device), kernel_(device.shipped_kernel<int>("clear", kernel_name)) {}

void SharedMemoryCleaner::launch() {
    // The largest multiprocessor so far has 228 KiB. 28 blocks fill it, each with 8 KiB and 1 KiB
    // that CUDA reserves. On the emulator every block of a virtual SM gets the same memory.
    constexpr unsigned bytes = 8 * 1024;
    const unsigned resident = device_.info().kind == compute::DeviceKind::emulator ? 1 : 28;
    const unsigned blocks = unsigned(std::max(device_.info().multiprocessors, 1)) * resident;
    device_.launch(kernel_, {.grid = {blocks}, .block = {64}, .dynamic_shared_bytes = bytes}, {},
                   int(bytes / 4));
}

}  // namespace warpscope::experiments
