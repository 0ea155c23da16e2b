#include <gtest/gtest.h>

#include <set>
#include <string>

#include "compute/emulated/emulated_device.h"
#include "emulator/observe/observer.h"

namespace warpscope::compute {
namespace {

// Thread t stores word t of `out` behind a barrier.
constexpr const char* store_ptx = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry store_behind_barrier(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    bar.sync 0;
    st.global.u32 [%rd4], %r1;
    ret;
}
)";

/// Sees nothing.
class Blind : public emulator::Observer {
    bool wants(std::uint32_t) override { return false; }
};

/// The threads that launches with different seeds name whose last stores lie behind the buffer.
std::set<std::string> failing_threads(EmulatedDevice& device) {
    std::set<std::string> found;
    const auto kernel =
        device.kernel_from_ptx<DevicePointer<std::uint32_t>>(store_ptx, "store_behind_barrier");
    const Buffer<std::uint32_t> out(device, 8);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        device.set({.seed = seed});
        try {
            device.launch(kernel, {{1}, {256}}, {}, out.pointer());
            ADD_FAILURE() << "no thread has failed";
        } catch (const BlockError& error) {
            const std::string text = error.what();
            const std::size_t begin = text.find("thread (");
            found.insert(text.substr(begin, text.find(')', begin) + 1 - begin));
        }
    }
    return found;
}

TEST(IndependentWarps, RunInTheirOrderUnlessTheLaunchIsObserved) {
    const auto device = make_emulated_device("for this test");
    EXPECT_EQ(failing_threads(*device), std::set<std::string>{"thread (8,0,0)"});
    Blind observer;
    device->observe(&observer);
    EXPECT_GT(failing_threads(*device).size(), 1u);
    device->observe(nullptr);
}

}  // namespace
}  // namespace warpscope::compute
