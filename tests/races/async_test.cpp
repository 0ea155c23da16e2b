#include <ostream>

#include "emulator/program/error.h"
#include "race_kernels.h"

/// Asynchronous copies and mbarriers, under every schedule and for every moment of landing.
namespace warpscope::tests {
namespace {

using emulator::FindingKind;
using emulator::Landing;
using emulator::Severity;

struct AsyncCase {
    const char* kernel;
    bool races = false;
    const char* words = "";  ///< of one of the sentences
    const char* file = "async";
};

std::ostream& operator<<(std::ostream& out, const AsyncCase& e) {
    return out << e.kernel;
}

class Async : public testing::TestWithParam<AsyncCase> {};

TEST_P(Async, FindingsDoNotDependOnTheScheduleNorOnTheLandingOfCopies) {
    for (const Landing landing : {Landing::random, Landing::at_once, Landing::late})
        for (emulator::LaunchSettings settings : schedules(3)) {
            settings.landing = landing;
            // `out` has two words for each of 64 threads.
            const auto found = check_kernel(GetParam().kernel, 64, settings, GetParam().file, 128);
            SCOPED_TRACE(testing::Message()
                         << "landing " << int(landing) << ", schedule " << int(settings.schedule)
                         << ", seed " << settings.seed << "\n"
                         << sentences(found));
            const std::uint64_t errors = count(found, FindingKind::race, Severity::error);
            EXPECT_EQ(errors > 0, GetParam().races);
            if (!GetParam().races) {
                EXPECT_EQ(found.size(), 0u);
            }
            EXPECT_NE(sentences(found).find(GetParam().words), std::string::npos);
        }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Async,
    testing::Values(
        AsyncCase{"waited_and_barrier"}, AsyncCase{"own_word_waited"},
        AsyncCase{"handed_over_by_all_lanes"}, AsyncCase{"handed_over_behind_syncwarp"},
        AsyncCase{"copies_counted"}, AsyncCase{"pipeline_of_the_library"},
        AsyncCase{"pipeline_of_stages"}, AsyncCase{"rows_handed_over"},
        AsyncCase{"pipeline_of_stages_by_syncwarp", true, "__syncthreads() is missing"},
        AsyncCase{"rows_handed_over_by_one_lane", true, "no release and acquire of one word"},
        AsyncCase{"phase_waited_for_twice", true, "no release and acquire of one word"},
        AsyncCase{"not_waited", true, "while an asynchronous copy copies to it"},
        AsyncCase{"not_committed", true, "behind a commit"},
        AsyncCase{"own_word_not_waited", true, "the thread must wait for its copy first"},
        AsyncCase{"waited_without_barrier", true, "__syncthreads() is missing"},
        AsyncCase{"waited_and_syncwarp", true, "__syncthreads() is missing"},
        AsyncCase{"source_changed", true, "while an asynchronous copy copies from it"},
        AsyncCase{"waited_for_the_older_group", true, "the thread must wait for its copy first"},
        AsyncCase{"handed_over_by_one_lane", true, "no release and acquire of one word"},
        AsyncCase{"wrong_parity", true, "no release and acquire of one word"},
        AsyncCase{"copies_not_counted", true, "or an mbarrier must count the copy"},
        AsyncCase{"pipeline_without_wait", true}, AsyncCase{"ends_behind_reads", false, "", "bulk"},
        AsyncCase{"ends_while_read", true, "ends while the bulk copy that thread (0,0,0)", "bulk"},
        AsyncCase{"changed_behind_reads", false, "", "bulk"},
        AsyncCase{"result_read_behind_copies", false, "", "bulk"},
        AsyncCase{"result_read_behind_reads", true, "must wait with cp.async.bulk.wait_group",
                  "bulk"},
        AsyncCase{"fetched", false, "", "bulk"}),
    [](const auto& info) { return std::string(info.param.kernel); });

struct Hang {
    const char *kernel, *file, *words, *more = "";
};

// Found by the run, under every schedule: the kernel, and what the sentence says of the missing
// part.
TEST(AsyncHang, SaysWhatIsMissingAndWhoShouldHaveBroughtIt) {
    const Hang hangs[] = {
        {"hangs_for_an_arrival", "async", "which lacks 1 of 32 arrivals (arrivals are at"},
        {"hangs_for_a_warp_that_has_ended", "async",
         "which lacks 32 of 32 arrivals (warp 0 arrived in phase 1 and has ended since; arrivals "
         "are at "},
        {"hangs_for_the_next_parity", "async",
         "for phase 1 of the mbarrier at byte 0 of shared memory, which lacks 64 of 64 arrivals "
         "(warps 0-1 arrived in phase 0 and have not arrived since; arrivals are at ",
         "; phase 0 has ended, and nobody has arrived since: is the awaited parity that of the "
         "phase after it?)"},
        {"hangs_for_bytes", "bulk",
         "which lacks 256 bytes of copies (512 were announced, 256 were copied, and no copy is in "
         "flight; announcements are at "}};
    for (const Hang& hang : hangs)
        for (const emulator::LaunchSettings& settings : schedules(2)) {
            std::string error;
            try {
                check_kernel(hang.kernel, 64, settings, hang.file, 128);
            } catch (const emulator::Error& e) {
                error = e.what();
            }
            EXPECT_NE(error.find(hang.words), error.npos) << hang.kernel << ": " << error;
            EXPECT_NE(error.find(hang.more), error.npos) << hang.kernel << ": " << error;
        }
}

TEST(AsyncInit, IsOrderedBeforeArrivalsByABarrierOnly) {
    const emulator::LaunchSettings in_order{.schedule = emulator::Schedule::run_to_barrier};
    const auto found = check_kernel("init_without_barrier", 64, in_order, "async");
    EXPECT_EQ(count(found, FindingKind::race, Severity::error), 1u) << sentences(found);
}

}  // namespace
}  // namespace warpscope::tests
