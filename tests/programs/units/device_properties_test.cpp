#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "programs/gpu/device_attributes.h"

namespace warpscope::programs {
namespace {

/// The bytes of cudaDeviceProp in the headers of CUDA 11.8, 12.4 and 13.0.
struct Layout {
    int version;
    std::size_t bytes;
};

TEST(DeviceProperties, EndWhereTheStructureOfTheProgramEnds) {
    constexpr std::byte untouched{0xA5};
    for (const Layout layout : {Layout{11000, 728}, Layout{12000, 1032}, Layout{13000, 1008}}) {
        std::vector<std::byte> memory(2048, untouched);
        write_device_properties(memory.data(), layout.version);
        const auto behind = memory.begin() + std::ptrdiff_t(layout.bytes);
        EXPECT_TRUE(std::all_of(behind, memory.end(), [=](std::byte b) { return b == untouched; }))
            << layout.version;
        // reservedSharedMemPerBlock, the last member of CUDA 11, is 1 KiB.
        if (layout.version == 11000) {
            EXPECT_EQ(memory[720], std::byte{0x00});
            EXPECT_EQ(memory[721], std::byte{0x04});
        }
    }
}

}  // namespace
}  // namespace warpscope::programs
