#include <ostream>

#include "race_kernels.h"

/// Fences, releases and acquires of words, and the barriers that libraries build from them.
namespace warpscope::tests {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Severity;

struct Expected {
    std::string file, kernel;
    std::uint32_t threads;
    std::uint64_t errors = 0;  ///< races between warps
    bool varies = false;       ///< the schedule decides how many, but there are some
};

std::ostream& operator<<(std::ostream& out, const Expected& e) {
    return out << e.kernel;
}

class Order : public testing::TestWithParam<Expected> {};

TEST_P(Order, ByWordsOfMemoryIsKnownToTheRaceDetector) {
    const Expected& expected = GetParam();
    for (const emulator::LaunchSettings& settings : schedules()) {
        const auto found = check_kernel(expected.kernel, expected.threads, settings, expected.file);
        SCOPED_TRACE(testing::Message()
                     << "schedule " << int(settings.schedule) << ", seed " << settings.seed << "\n"
                     << sentences(found));
        const std::uint64_t errors = count(found, FindingKind::race, Severity::error);
        if (expected.varies) {
            EXPECT_GT(errors, 0u);
            continue;
        }
        EXPECT_EQ(errors, expected.errors);
        EXPECT_EQ(count(found, FindingKind::race, Severity::warning), 0u);
        EXPECT_EQ(count(found, FindingKind::uninitialized, Severity::error), 0u);
    }
}

constexpr bool varies = true;

INSTANTIATE_TEST_SUITE_P(
    Words, Order,
    testing::Values(
        // The 32 threads of warp 1 read one word.
        Expected{"order", "exchange_no_fence", 64, 32}, Expected{"order", "exchange_fences", 64},
        Expected{"order", "exchange_wide_fences", 64},
        Expected{"order", "exchange_fence_of_writer", 64, 32},
        Expected{"order", "exchange_fence_of_reader", 64, 32},
        Expected{"order", "fence_behind_the_flag", 64, 32},
        Expected{"order", "volatile_fences", 64},
        // The flag races too, as often as the threads look at it.
        Expected{"order", "volatile_no_fence", 64, 0, varies},
        Expected{"order", "volatile_fence_of_writer", 64, 0, varies},
        Expected{"order", "release_acquire", 64}, Expected{"order", "release_relaxed", 64, 32},
        Expected{"order", "relaxed_acquire", 64, 32}, Expected{"order", "fence_acquire", 64},
        Expected{"order", "release_fence", 64},
        Expected{"order", "weak_store_behind_release", 64, 0, varies},
        Expected{"order", "atomic_behind_release", 64},
        Expected{"order", "flag_in_global_memory", 64},
        Expected{"order", "flag_in_global_memory_no_fence", 64, 32},
        Expected{"order", "write_behind_release", 64, 0, varies},
        Expected{"order", "one_lane_for_its_warp", 64},
        // All words but the first.
        Expected{"order", "one_lane_for_itself", 64, 31}, Expected{"order", "three_in_a_row", 96},
        Expected{"order", "spin_lock", 64}, Expected{"order", "spin_lock_no_fence", 64, 0, varies},
        Expected{"order", "failed_swap", 64, 0, varies}, Expected{"order", "last_one_done", 128},
        Expected{"order", "barrier_then_release", 96}),
    [](const auto& info) { return info.param.kernel; });

INSTANTIATE_TEST_SUITE_P(
    Libraries, Order,
    testing::Values(Expected{"library", "cuda_barrier", 128},
                    Expected{"library", "cuda_barrier_no_wait", 128, 0, varies},
                    Expected{"library", "tile_sync", 128}, Expected{"library", "block_reduce", 128},
                    Expected{"library", "block_scan", 128},
                    Expected{"library", "block_radix_sort", 128}),
    [](const auto& info) { return info.param.kernel; });

TEST(FlagsWithoutFences, AreNamedWithTheSidesThatLackThem) {
    struct Flag {
        const char* kernel;
        const char* advice;  ///< "": the threads lack no fence
    };
    const char *one = ": __threadfence_block() is missing between kernels/order.cu:",
               *both = ", and between kernels/order.cu:";
    for (const Flag& flag :
         {Flag{"exchange_no_fence", both}, Flag{"exchange_fence_of_writer", one},
          Flag{"exchange_fence_of_reader", one}, Flag{"fence_behind_the_flag", one},
          Flag{"release_relaxed", one}, Flag{"relaxed_acquire", one},
          Flag{"flag_in_global_memory_no_fence", both}, Flag{"write_behind_release", ""},
          Flag{"one_lane_for_itself", ""}})
        for (const emulator::LaunchSettings& settings : schedules(2)) {
            const std::string text = sentences(check_kernel(flag.kernel, 64, settings, "order"));
            SCOPED_TRACE(testing::Message() << flag.kernel << "\n" << text);
            EXPECT_EQ(text.find(one) != text.npos, flag.advice != std::string());
            EXPECT_EQ(text.find(both) != text.npos, flag.advice == both);
            EXPECT_EQ(text.find("cuda::atomic_ref") != text.npos, flag.advice != std::string());
        }
}

}  // namespace
}  // namespace warpscope::tests
