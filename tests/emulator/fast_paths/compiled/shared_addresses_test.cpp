#include <fmt/format.h>

#include "emulator/fast_paths/compiled/both_forms.h"

namespace warpscope::emulator {
namespace {

class SharedAddresses : public LlvmTest {};

constexpr int shared_bytes = 1100;  // not a multiple of 8 or 16
constexpr LaunchShape warp_of_accesses{{1, 1, 1}, {32, 1, 1}, 0};

/// An access of `bytes` bytes by each lane: at n + immediate + lane * step, where n is the launch's
/// argument and may be negative.
struct SharedAccess {
    const char* instruction;  ///< {} takes the address
    int bytes, step, immediate;

    std::string text() const {
        const std::string address = step == 0 ? "%r3" : "%r2";
        return kernel_text(
            fmt::format("mov.u32 %r4, tile;\nadd.s32 %r3, %r4, %r0;\n"
                        "mad.lo.s32 %r2, %r1, {}, %r3;\nmov.b32 %r6, 7;\nmov.b64 %rd2, 7;\n",
                        step) +
                fmt::format(fmt::runtime(instruction), fmt::format("[{}+{}]", address, immediate)) +
                "\nst.global.u32 [%rd1], %r6;\n",
            fmt::format(".shared .align 16 .b8 tile[{}];", shared_bytes));
    }
    /// Each lane's bytes are aligned and lie within shared memory.
    bool is_valid(int n) const {
        const int first = n + immediate, last = first + 31 * step;
        return first % bytes == 0 && first >= 0 && last + bytes <= shared_bytes;
    }
};

TEST_F(SharedAddresses, AreValidUpToTheLastAlignedPlaceAndNoFurther) {
    for (const SharedAccess& access : {
             SharedAccess{"ld.shared.u32 %r6, {};", 4, 0, 0},
             SharedAccess{"ld.shared.u32 %r6, {};", 4, 0, -8},
             SharedAccess{"ld.shared.v2.u32 {{%r6, %r7}}, {};", 8, 0, 16},
             SharedAccess{"ld.shared.v4.u32 {{%r6, %r7, %r8, %r9}}, {};", 16, 0, 0},
             SharedAccess{"ld.shared.u32 %r6, {};", 4, 4, 0},
             SharedAccess{"ld.shared.u32 %r6, {};", 4, 4, 12},
             SharedAccess{"ld.shared.u32 %r6, {};", 4, 4, -64},
             SharedAccess{"st.shared.u32 {}, %r6;", 4, 4, 0},
             SharedAccess{"ld.shared.u64 %rd2, {};", 8, 8, 0},
             SharedAccess{"ld.shared.v4.u32 {{%r6, %r7, %r8, %r9}}, {};", 16, 16, 16},
             SharedAccess{"ld.shared.u32 %r6, {};", 4, 12, 8},
             SharedAccess{"st.shared.u32 {}, %r6;", 4, 12, -8},
             SharedAccess{"ld.shared.u64 %rd2, {};", 8, 24, 16},
             SharedAccess{"st.shared.u64 {}, %rd2;", 8, 24, 0},
         }) {
        BothForms both(access.text());
        const int room = shared_bytes - 31 * access.step - access.immediate;
        std::vector<int> offsets;
        for (int n = -20; n <= 20; ++n) {
            offsets.push_back(n - access.immediate);
            offsets.push_back(room + n);
        }
        for (const int n : offsets) {
            SCOPED_TRACE(
                fmt::format("{}, immediate {}, n {}", access.instruction, access.immediate, n));
            const Outcome compiled = both.run(true, warp_of_accesses, {}, std::uint32_t(n));
            EXPECT_EQ(compiled.error.empty(), access.is_valid(n)) << compiled.error;
            EXPECT_EQ(compiled, both.run(false, warp_of_accesses, {}, std::uint32_t(n)));
        }
    }
}

/// A kernel that has `body` behind an address %r3 = tile + n + lane * step. It stores %r6.
std::string behind_address(const std::string& body, int step) {
    return kernel_text("mov.u32 %r4, tile;\nadd.s32 %r3, %r4, %r0;\nmov.b32 %r6, 7;\n" +
                           (step ? fmt::format("mad.lo.s32 %r3, %r1, {}, %r3;\n", step) : "") +
                           body + "\nst.global.u32 [%rd1], %r6;\n",
                       fmt::format(".shared .align 16 .b8 tile[{}];", shared_bytes));
}

// One check covers such loads: the lowest starts at n - 8, the highest ends at n + 28.
void expect_loads_are_valid_if_each_is(int step) {
    BothForms both(behind_address(
        "ld.shared.u32 %r6, [%r3+8];\nld.shared.u32 %r7, [%r3+-8];\nadd.u32 %r6, %r6, %r7;\n"
        "ld.shared.u32 %r7, [%r3+24];\nadd.u32 %r6, %r6, %r7;\n"
        "ld.shared.u32 %r7, [%r3];\nadd.u32 %r6, %r6, %r7;\n",
        step));
    const int room = shared_bytes - 31 * step;
    std::vector<int> offsets;
    for (int n = -30; n <= 30; ++n) {
        offsets.push_back(n);
        offsets.push_back(room + n);
    }
    for (const int n : offsets)
        for (const Schedule schedule : {Schedule::random, Schedule::run_to_barrier}) {
            SCOPED_TRACE(n);
            const LaunchSettings settings{.schedule = schedule};
            const Outcome compiled = both.run(true, warp_of_accesses, settings, std::uint32_t(n));
            const bool is_valid = n % 4 == 0 && n >= 8 && n + 28 <= room;
            EXPECT_EQ(compiled.error.empty(), is_valid) << compiled.error;
            EXPECT_EQ(compiled, both.run(false, warp_of_accesses, settings, std::uint32_t(n)));
        }
}

TEST_F(SharedAddresses, OfLoadsFromOneAddressAreValidIfEachIs) {
    expect_loads_are_valid_if_each_is(0);
}

TEST_F(SharedAddresses, OfLoadsFromOneAddressOfEachLaneAreValidIfEachIs) {
    expect_loads_are_valid_if_each_is(4);   // consecutive
    expect_loads_are_valid_if_each_is(12);  // scattered
}

TEST_F(SharedAddresses, AreCheckedAgainWhereTheAddressChangesOrAJumpSkipsTheFirstCheck) {
    const std::string out_of_bounds = fmt::format("ld.shared.u32 %r6, [%r3+{}];", shared_bytes);
    const std::vector<std::string> bodies = {
        // The memory is 0, so that the second address is 0 as well.
        "ld.shared.u32 %r6, [%r3];\nld.shared.u32 %r3, [%r3+4];\n" + out_of_bounds,
        "ld.shared.u32 %r6, [%r3];\nadd.u32 %r3, %r3, 2;\nld.shared.u32 %r6, [%r3+4];",
        "setp.gt.s32 %p0, %r0, 0;\n@%p0 bra SECOND;\nld.shared.u32 %r7, [%r3];\nSECOND:\n" +
            out_of_bounds};
    for (const std::string& body : bodies)
        for (const int step : {0, 4, 12}) {
            BothForms both(behind_address(body, step));
            for (const int n : {0, 4, 16}) {
                SCOPED_TRACE(fmt::format("{}, step {}, n {}", body, step, n));
                const Outcome compiled = both.run(true, warp_of_accesses, {}, std::uint32_t(n));
                EXPECT_FALSE(compiled.error.empty());
                EXPECT_EQ(compiled, both.run(false, warp_of_accesses, {}, std::uint32_t(n)));
            }
        }
}

}  // namespace
}  // namespace warpscope::emulator
