#include "emulator/async/async_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "emulator/ptx_fixture.h"

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

namespace warpscope::emulator {
namespace {

/// %r2: the address of tile[tid] in shared memory, with 4 bytes for each thread. %rd3: the address
/// of in[tid] in the second half of `out`, whose words are 1000 + their index.
std::string with_tile(const std::string& body) {
    return kernel_text(R"(
mov.u32 %r2, tile;
mad.lo.u32 %r2, %r1, 4, %r2;
mov.u32 %r3, %ntid.x;
mul.wide.u32 %rd3, %r3, 4;
add.s64 %rd3, %rd1, %rd3;
add.u32 %r4, %r1, 1000;
st.global.u32 [%rd3], %r4;
st.shared.u32 [%r2], 7;
bar.sync 0;
)" + body,
                       ".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b64 full;\n"
                       ".shared .align 8 .b64 empty;\n");
}

/// The first `threads` words of a run, with room for the input behind them.
std::vector<uint32_t> run(const std::string& body, Landing landing, uint32_t threads = 64,
                          uint64_t seed = 1) {
    Runner r(with_tile(body));
    r.settings.landing = landing;
    r.settings.seed = seed;
    auto words = r.run(one_block(threads), 0, 2 * threads);
    words.resize(threads);
    return words;
}

std::vector<uint32_t> numbers_from(uint32_t first, uint32_t count = 64) {
    std::vector<uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

constexpr Landing landings[] = {Landing::random, Landing::at_once, Landing::late};

TEST(AsyncCopy, writes_shared_memory_before_the_wait_for_its_group_ends) {
    for (const Landing landing : landings)
        EXPECT_EQ(run(R"(
cp.async.ca.shared.global [%r2], [%rd3], 4;
cp.async.commit_group;
cp.async.wait_group 0;
ld.shared.u32 %r5, [%r2];
st.global.u32 [%rd1], %r5;)",
                      landing),
                  numbers_from(1000));
}

TEST(AsyncCopy, wait_all_needs_no_group) {
    for (const Landing landing : landings)
        EXPECT_EQ(run(R"(
cp.async.ca.shared::cta.global.L2::128B [%r2+0], [%rd3+0], 4;
cp.async.wait_all;
ld.shared.u32 %r5, [%r2];
st.global.u32 [%rd1], %r5;)",
                      landing),
                  numbers_from(1000));
}

constexpr const char* read_without_wait = R"(
cp.async.ca.shared.global [%r2], [%rd3], 4;
cp.async.commit_group;
ld.shared.u32 %r5, [%r2];
st.global.u32 [%rd1], %r5;)";

TEST(AsyncCopy, lands_at_once_or_as_late_as_the_wait_allows) {
    EXPECT_EQ(run(read_without_wait, Landing::at_once), numbers_from(1000));
    EXPECT_EQ(run(read_without_wait, Landing::late), std::vector<uint32_t>(64, 7));
}

// Each of the 8 warps reads soon after it has started its copy, so that some copies have landed and
// some have not. Seeds repeat.
TEST(AsyncCopy, lands_at_random_from_the_seed) {
    const std::string slow = R"(
cp.async.ca.shared.global [%r2], [%rd3], 4;
mov.u32 %r6, 0;
again: add.u32 %r6, %r6, 1;
setp.lt.u32 %p1, %r6, 40;
@%p1 bra again;
ld.shared.u32 %r5, [%r2];
st.global.u32 [%rd1], %r5;)";
    const auto first = run(slow, Landing::random, 256, 3);
    EXPECT_GT(std::count(first.begin(), first.end(), 7u), 0);
    EXPECT_LT(std::count(first.begin(), first.end(), 7u), 256);
    EXPECT_EQ(first, run(slow, Landing::random, 256, 3));
    EXPECT_NE(first, run(slow, Landing::random, 256, 4));
}

TEST(AsyncCopy, wait_group_leaves_the_newest_groups_in_flight) {
    const auto words = run(R"(
cp.async.ca.shared.global [%r2], [%rd3], 4;
cp.async.commit_group;
cp.async.ca.shared.global [%r2+1024], [%rd3], 4;
cp.async.commit_group;
cp.async.wait_group 1;
ld.shared.u32 %r5, [%r2];
ld.shared.u32 %r6, [%r2+1024];
mad.lo.u32 %r5, %r6, 10000, %r5;
st.global.u32 [%rd1], %r5;)",
                           Landing::late);
    EXPECT_EQ(words, numbers_from(1000));  // the second copy has not landed, its words are 0
}

// 4 of 16 bytes are read; the others become zero. Word 3 was 7 before.
TEST(AsyncCopy, fills_what_it_does_not_read_with_zero) {
    const auto words = run(R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra done;
cp.async.cg.shared.global [%r2], [%rd3], 16, 4;
cp.async.wait_all;
ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r2];
st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r8};
done:)",
                           Landing::late, 32);
    EXPECT_EQ(std::vector(words.begin(), words.begin() + 4),
              (std::vector<uint32_t>{1000, 0, 0, 0}));
}

TEST(AsyncCopy, reads_nothing_where_its_predicate_says_so) {
    const auto words = run(R"(
setp.lt.u32 %p1, %r1, 3;
cp.async.ca.shared.global [%r2], [%rd3], 4, %p1;
cp.async.wait_all;
ld.shared.u32 %r5, [%r2];
st.global.u32 [%rd1], %r5;)",
                           Landing::random, 32);
    EXPECT_EQ(std::vector(words.begin(), words.begin() + 5),
              (std::vector<uint32_t>{0, 0, 0, 1003, 1004}));
}

TEST(AsyncCopy, an_address_outside_of_shared_memory_ends_the_launch) {
    EXPECT_HAS(
        error_of([] { run("cp.async.ca.shared.global [%r2+4096], [%rd3], 4;", Landing::late); }),
        "4 bytes at shared memory address");
    EXPECT_HAS(error_of([] { run("cp.async.ca.shared.global [%r2], [%rd3], 8;", Landing::late); }),
               "is not a multiple of 8");
}

TEST(AsyncCopy, forms_that_PTX_does_not_have_are_named) {
    const auto error = [](const std::string& statement) {
        return load_error(with_tile(statement));
    };
    EXPECT_HAS(error("cp.async.ca.shared.global [%r2], [%rd3], 12;"),
               "an asynchronous copy has 4, 8 or 16 bytes");
    EXPECT_HAS(error("cp.async.cg.shared.global [%r2], [%rd3], 8;"), ".cg has 16 bytes");
    EXPECT_HAS(error("cp.async.shared.global [%r2], [%rd3], 8;"), "has .ca or .cg");
    EXPECT_HAS(error("cp.async.bulk.global.global.bulk_group [%rd1], [%rd3], 16;"),
               "in shared memory");
}

// The barrier counts 64 arrivals of threads in each of two phases.
TEST(Mbarrier, a_phase_ends_when_all_threads_have_arrived) {
    for (const Landing landing : landings)
        EXPECT_EQ(run(R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra made;
mbarrier.init.shared::cta.b64 [full], 64;
made: bar.sync 0;
st.shared.u32 [%r2], %r1;
mbarrier.arrive.shared.b64 %rd5, [full];
wait: mbarrier.test_wait.shared.b64 %p2, [full], %rd5;
@!%p2 bra wait;
xor.b32 %r6, %r1, 63;
mov.u32 %r7, tile;
mad.lo.u32 %r7, %r6, 4, %r7;
ld.shared.u32 %r5, [%r7];
mbarrier.arrive.release.cta.shared::cta.b64 _, [full];
again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 1;
@!%p2 bra again;
st.global.u32 [%rd1], %r5;)",
                      landing),
                  [] {
                      auto reversed = numbers_from(0);
                      std::reverse(reversed.begin(), reversed.end());
                      return reversed;
                  }());
}

// Thread 0 makes a barrier of 5 arrivals. The states before and after an arrival of 2 have 5 and 3
// pending ones; 2 arrivals drop out of later phases: 1 arrival ends the first phase, and the next
// one expects 3.
TEST(Mbarrier, counts_arrivals_and_drops) {
    const auto words = run(R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra done;
mbarrier.init.shared.b64 [full], 5;
mbarrier.arrive.noComplete.shared.b64 %rd5, [full], 2;
mbarrier.pending_count.b64 %r5, %rd5;
mbarrier.arrive_drop.shared.b64 %rd6, [full], 2;
mbarrier.pending_count.b64 %r6, %rd6;
mbarrier.test_wait.parity.shared.b64 %p2, [full], 0;
selp.u32 %r7, 1, 0, %p2;
mbarrier.arrive.shared.b64 %rd7, [full];
mbarrier.test_wait.shared.b64 %p2, [full], %rd7;
selp.u32 %r8, 1, 0, %p2;
st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r8};
mbarrier.arrive.shared.b64 %rd8, [full];
mbarrier.pending_count.b64 %r5, %rd8;
st.global.u32 [%rd1+16], %r5;
mbarrier.inval.shared.b64 [full];
done:)",
                           Landing::random, 32);
    EXPECT_EQ(std::vector(words.begin(), words.begin() + 5),
              (std::vector<uint32_t>{5, 3, 0, 1, 3}));
}

TEST(Mbarrier, says_why_it_cannot_count) {
    const auto error = [](const std::string& body) {
        return error_of([&] {
            run("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra done;\n" + body + "\ndone:", Landing::late);
        });
    };
    EXPECT_HAS(error("mbarrier.arrive.shared.b64 _, [full];"),
               "no mbarrier has been initialised at byte 4096 of shared memory");
    EXPECT_HAS(error("mbarrier.init.shared.b64 [full], 0;"),
               "an mbarrier expects 1 to 1048575 arrivals, not 0");
    EXPECT_HAS(error("mbarrier.init.shared.b64 [full], 2;\n"
                     "mbarrier.arrive.shared.b64 _, [full], 3;"),
               "3 arrivals at the mbarrier at byte 4096 of shared memory, of which this phase "
               "expects only 2 more, of 2");
    EXPECT_HAS(error("mbarrier.init.shared.b64 [full], 2;\n"
                     "mbarrier.arrive.noComplete.shared.b64 %rd5, [full], 2;"),
               "an arrival with .noComplete would end the phase");
}

// 32 threads wait for a barrier of 33 arrivals.
TEST(Mbarrier, a_hang_names_the_barrier_and_what_it_lacks) {
    Runner r(with_tile(R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra made;
mbarrier.init.shared.b64 [full], 33;
made: bar.sync 0;
mbarrier.arrive.expect_tx.shared.b64 %rd5, [full], 16;
wait: mbarrier.try_wait.shared.b64 %p2, [full], %rd5;
@!%p2 bra wait;)"));
    const std::string error = error_of([&] { r.run(one_block(32), 0, 64); });
    EXPECT_HAS(error, "deadlock in block (0,0,0)");
    EXPECT_HAS(error, "warp 0 lanes 0xffffffff at ");
    EXPECT_HAS(error,
               "for phase 0 of the mbarrier at byte 4096 of shared memory, which lacks 1 of "
               "33 arrivals (arrivals are at PTX line 36; lanes 0xffffffff of warp 0 have arrived) "
               "and 512 bytes of copies (512 were announced, 0 were copied, and no copy is in "
               "flight; announcements are at PTX line 36)");
}

/// Thread 0 fetches 256 bytes, behind the arrivals of all 64 threads.
constexpr const char* bulk_fetch = R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra made;
mbarrier.init.shared.b64 [full], 64;
fence.proxy.async;
made: bar.sync 0;
@%p1 bra others;
mov.u32 %r5, tile;
mov.u32 %r6, full;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd3], 256, [%r6];
mbarrier.arrive.expect_tx.shared.b64 %rd5, [full], 256;
bra wait;
others: mbarrier.arrive.shared.b64 %rd5, [full];
wait: mbarrier.try_wait.shared.b64 %p2, [full], %rd5;
@!%p2 bra wait;
ld.shared.u32 %r5, [%r2];
)";

TEST(BulkCopy, an_mbarrier_counts_its_bytes) {
    for (const Landing landing : landings)
        for (const uint64_t seed : {1, 2, 3})
            EXPECT_EQ(
                run(bulk_fetch + std::string("st.global.u32 [%rd1], %r5;"), landing, 64, seed),
                numbers_from(1000));
}

TEST(BulkCopy, writes_global_memory_before_the_wait_for_its_group_ends) {
    for (const Landing landing : landings)
        EXPECT_EQ(run(R"(
st.shared.u32 [%r2], %r4;
fence.proxy.async.shared::cta;
bar.sync 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra done;
mov.u32 %r5, tile;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
cp.async.bulk.wait_group 0;
done:)",
                      landing),
                  numbers_from(1000));
}

TEST(BulkCopy, has_whole_units_of_sixteen_bytes) {
    EXPECT_HAS(error_of([] {
                   run("mov.u32 %r5, tile; cp.async.bulk.global.shared::cta.bulk_group "
                       "[%rd0], [%r5], 24;",
                       Landing::late);
               }),
               "a bulk copy has a multiple of 16 bytes, not 24");
}

// Each thread arrives when its own copy has landed. Without .noinc the phase expects 64 arrivals
// more, so that the 64 of the copies do not end it.
TEST(Mbarrier, copies_arrive_when_they_have_landed) {
    const auto body = [](const std::string& form, const std::string& count) {
        return "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra made;\nmbarrier.init.shared.b64 [full], " +
               count + R"(;
made: bar.sync 0;
cp.async.ca.shared.global [%r2], [%rd3], 4;
cp.async.mbarrier.arrive)" +
               form + R"(.shared.b64 [full];
mbarrier.arrive.shared.b64 %rd5, [full];
wait: mbarrier.test_wait.shared.b64 %p2, [full], %rd5;
@!%p2 bra wait;
xor.b32 %r6, %r1, 63;
mov.u32 %r7, tile;
mad.lo.u32 %r7, %r6, 4, %r7;
ld.shared.u32 %r5, [%r7];
st.global.u32 [%rd1], %r5;)";
    };
    auto reversed = numbers_from(1000);
    std::reverse(reversed.begin(), reversed.end());
    for (const Landing landing : landings) {
        EXPECT_EQ(run(body(".noinc", "128"), landing), reversed);
        EXPECT_EQ(run(body("", "64"), landing), reversed);
    }
    EXPECT_HAS(error_of([&] { run(body(".noinc", "129"), Landing::random); }),
               "lacks 1 of 129 arrivals");
}

}  // namespace
}  // namespace warpscope::emulator
