#include <gtest/gtest.h>

#include "compute/emulated/emulated_device.h"
#include "emulator/counters/access_counters.h"
#include "experiments/bodies/bodies.h"
#include "experiments/nbody/nbody_state.h"
#include "experiments/settings.h"

/// Counters of the kernels of the experiments, compared with values computed by hand.
namespace warpscope::tests {
namespace {

using emulator::KernelCounters;
using experiments::NBodyKernel;

KernelCounters ripple(const std::string& kernel) {
    using Pointer = compute::DevicePointer<experiments::Rgba>;
    constexpr int size = 1024;
    const auto device = compute::make_emulated_device("");
    const char* file = kernel == "ripple_txty" ? "ripple" : "ripple_layouts";
    const auto draw = device->kernel<Pointer, int, int, float, int>(file, kernel);
    compute::Buffer<experiments::Rgba> pixels(*device, std::size_t(size) * size);
    emulator::AccessCounters counters;
    device->observe(&counters);
    device->launch(draw, {{size / 16, size / 16}, {16, 16}}, {}, pixels.pointer(), size, size, 0.0F,
                   0);
    device->observe(nullptr);
    EXPECT_EQ(counters.kernels().size(), 1u);
    return counters.kernels().at(0);
}

/// Counters of a kernel of the gallery at frame 0 of a 64x64 picture.
KernelCounters gallery(const std::string& name) {
    const auto device = compute::make_emulated_device("");
    const auto experiment = entry_of(name)->make(*device);
    set(*experiment, {{"width", "64"}, {"height", "64"}});
    emulator::AccessCounters counters;
    device->observe(&counters);
    experiment->launch_kernel();
    device->observe(nullptr);
    for (const KernelCounters& kernel : counters.kernels())
        if (kernel.kernel == name) return kernel;
    throw std::runtime_error(name + " was not launched");
}

TEST(GalleryCounters, BankConflictsOfTheTransposes) {
    for (const auto& [start, degree] : {std::pair{"transpose", 32u}, {"transpose_padded", 1u}}) {
        SCOPED_TRACE(start);
        const KernelCounters k = gallery(start);
        // 4 of the 16 blocks move a tile of 32 rows each.
        EXPECT_EQ(k.barriers, 4u);
        EXPECT_EQ(k.shared_loads.requests, 4u * 32);
        EXPECT_EQ(k.shared_loads.wavefronts, degree * 4 * 32);
        EXPECT_EQ(k.shared_loads.degree, degree);
        EXPECT_EQ(k.shared_stores.wavefronts, 4u * 32);
        EXPECT_EQ(k.global_stores.sectors, 64u * 64 * 4 / 32);
    }
}

TEST(GalleryCounters, DoubleBufferHasOneBarrierAStepAndShuffleHasNone) {
    EXPECT_EQ(gallery("double_buffer").barriers, 16u * 17);
    EXPECT_EQ(gallery("shuffle").barriers, 0u);
    EXPECT_EQ(gallery("shuffle").shared_loads.requests, 0u);
}

constexpr std::uint64_t ripple_warps = 4096 * 8;

TEST(RippleCounters, SectorsOfByteAndWordStores) {
    const KernelCounters bytes = ripple("ripple_bytes"), word = ripple("ripple_txty");
    // A warp is two rows of 16 pixels, 64 bytes each; each byte store touches all four sectors.
    EXPECT_EQ(bytes.global_stores.requests, 4 * ripple_warps);
    EXPECT_EQ(bytes.global_stores.sectors, 524'288u);
    EXPECT_EQ(bytes.global_stores.bytes, 4u << 20);
    EXPECT_EQ(word.global_stores.requests, ripple_warps);
    EXPECT_EQ(word.global_stores.sectors, 131'072u);
    EXPECT_EQ(word.global_stores.bytes, 4u << 20);
    EXPECT_EQ(word.barriers, 4096u);
    EXPECT_EQ(word.blocks, 4096u);
    EXPECT_EQ(word.global_loads.requests, 0u);
}

TEST(RippleCounters, BankConflictsOfTheLayouts) {
    const auto expect = [](const std::string& kernel, unsigned degree) {
        SCOPED_TRACE(kernel);
        const KernelCounters k = ripple(kernel);
        for (const emulator::MemoryCounts& c : {k.shared_loads, k.shared_stores}) {
            EXPECT_EQ(c.requests, ripple_warps);
            EXPECT_EQ(c.least_wavefronts, ripple_warps);
            EXPECT_EQ(c.wavefronts, degree * ripple_warps);
            EXPECT_EQ(c.degree, degree);
            EXPECT_EQ(c.bytes, 4u << 20);
        }
    };
    expect("ripple_txty", 8);
    expect("ripple_tytx", 1);
    expect("ripple_padded17", 2);
    expect("ripple_padded", 1);
}

/// One step of 64 bodies in two blocks of one warp.
KernelCounters nbody(NBodyKernel kernel) {
    const auto device = compute::make_emulated_device("");
    experiments::NBodyState state(*device, kernel, experiments::plummer_sphere(64, 1));
    emulator::AccessCounters counters;
    device->observe(&counters);
    state.step(32, 1e-3F, 0.05F);
    device->observe(nullptr);
    EXPECT_EQ(counters.kernels().size(), 1u);
    return counters.kernels().at(0);
}

TEST(NBodyCounters, Float3) {
    const KernelCounters k = nbody(NBodyKernel::float3);
    // A warp's positions and velocities: 3 loads each, 384 bytes apart in steps of 12: 12 sectors.
    // Then 64 bodies, each with 3 coordinates and a mass, which all lanes read together.
    EXPECT_EQ(k.global_loads.requests, 2u * (6 + 64 * 4));
    EXPECT_EQ(k.global_loads.sectors, 2u * (6 * 12 + 64 * 4));
    EXPECT_EQ(k.global_loads.bytes, k.global_loads.requests * 128);
    EXPECT_EQ(k.global_stores.requests, 2u * 6);
    EXPECT_EQ(k.global_stores.sectors, 2u * 6 * 12);
    EXPECT_EQ(k.shared_loads.requests, 0u);
    EXPECT_EQ(k.barriers, 0u);
}

TEST(NBodyCounters, Float4) {
    const KernelCounters k = nbody(NBodyKernel::float4);
    EXPECT_EQ(k.global_loads.requests, 2u * (2 + 64));
    EXPECT_EQ(k.global_loads.sectors, 2u * (2 * 16 + 64));
    EXPECT_EQ(k.global_loads.bytes, k.global_loads.requests * 512);
    EXPECT_EQ(k.global_stores.requests, 2u * 2);
    EXPECT_EQ(k.global_stores.sectors, 2u * 2 * 16);
}

TEST(NBodyCounters, Tiled) {
    const KernelCounters k = nbody(NBodyKernel::tiled);
    // Position, velocity and a body of each of the two tiles.
    EXPECT_EQ(k.global_loads.requests, 2u * 4);
    EXPECT_EQ(k.global_loads.sectors, 2u * 4 * 16);
    EXPECT_EQ(k.global_stores.sectors, 2u * 2 * 16);
    EXPECT_EQ(k.shared_stores.requests, 2u * 2);
    EXPECT_EQ(k.shared_stores.wavefronts, 2u * 2 * 4)
        << "16 bytes a lane: a quarter of the warp in each pass";
    EXPECT_EQ(k.shared_stores.degree, 1u);
    EXPECT_EQ(k.shared_loads.requests, 2u * 64);
    EXPECT_EQ(k.shared_loads.wavefronts, 2u * 64 * 2)
        << "all lanes read one body, half of the warp in each pass";
    EXPECT_EQ(k.shared_loads.least_wavefronts, k.shared_loads.wavefronts);
    EXPECT_EQ(k.shared_loads.bytes, 2u * 64 * 512);
    EXPECT_EQ(k.barriers, 2u * 4);
}

}  // namespace
}  // namespace warpscope::tests
