#include <fmt/format.h>

#include <bit>

#include "instructions/form.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class WarpInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(WarpInstructions);

using Warp = std::span<const Row>;
constexpr std::uint32_t all = 0xffffffff;

/// PTX ISA, "Data Movement and Conversion Instructions: shfl.sync": the lane that is read, and
/// whether it is in range; out of range a lane reads itself.
struct Source {
    unsigned lane;
    bool in_range;
};

Source source_of(const std::string& mode, unsigned lane, unsigned b, unsigned c) {
    const int segment = int(c >> 8 & 31), clamp = int(c & 31), own = int(lane);
    const int low = own & segment, high = low | (clamp & ~segment), delta = int(b & 31);
    int from = 0;
    if (mode == "up") from = own - delta;
    if (mode == "down") from = own + delta;
    if (mode == "bfly") from = own ^ delta;
    if (mode == "idx") from = low | (delta & ~segment);
    const bool in_range = mode == "up" ? from >= high : from <= high;
    return {in_range ? unsigned(from) : lane, in_range};
}

std::vector<WarpForm> shuffles(const std::string& mode, const std::vector<unsigned>& controls) {
    std::vector<WarpForm> table;
    for (unsigned c : controls) {
        table.push_back({fmt::format("shfl.sync.{}.b32 %d, %a, %b, {}, -1;", mode, c),
                         "b32 b32 b32", [=](unsigned lane, Warp warp) {
                             return warp[source_of(mode, lane, unsigned(warp[lane][1]), c).lane][0];
                         }});
        table.push_back({fmt::format("shfl.sync.{}.b32 %d|%p, %a, %b, {}, -1; "
                                     "selp.b32 %d, 1, 0, %p;",
                                     mode, c),
                         "b32 b32 b32", [=](unsigned lane, Warp warp) -> std::uint64_t {
                             return source_of(mode, lane, unsigned(warp[lane][1]), c).in_range;
                         }});
        // One distance for the whole warp; 33 counts as 1.
        for (unsigned b : {0U, 1U, 6U, 16U, 33U})
            table.push_back({fmt::format("shfl.sync.{0}.b32 %d|%p, %a, {1}, {2}, -1; "
                                         "@!%p not.b32 %d, %d;",
                                         mode, b, c),
                             "b32 b32 b32", [=](unsigned lane, Warp warp) -> std::uint64_t {
                                 const Source from = source_of(mode, lane, b, c);
                                 const auto value = std::uint32_t(warp[from.lane][0]);
                                 return from.in_range ? value : ~value;
                             }});
    }
    return table;
}

// Bits 8 to 12 cut the warp into segments: 0x18 of 8 lanes, 0x1c of 4. The low bits clamp.
TEST_P(WarpInstructions, ShuffleUp) {
    check_warps(device(), shuffles("up", {0, 0x1800, 0x1c00}));
}

TEST_P(WarpInstructions, ShuffleDown) {
    check_warps(device(), shuffles("down", {31, 20, 0x181f, 0x1c1f}));
}

TEST_P(WarpInstructions, ShuffleButterfly) {
    check_warps(device(), shuffles("bfly", {31, 20, 0x181f, 0x1c1f}));
}

TEST_P(WarpInstructions, ShuffleIndexed) {
    check_warps(device(), shuffles("idx", {31, 20, 0x181f, 0x1c1f}));
}

TEST_P(WarpInstructions, ShuffleWithOperandsOfAllKinds) {
    check_warps(
        device(),
        {
            {"shfl.sync.down.b32 %d, %a, 16, 31, -1;", "b32 b32",
             [](unsigned lane, Warp warp) { return warp[lane < 16 ? lane + 16 : lane][0]; }},
            {"shfl.sync.bfly.b32 %d, %a, 1, 31, -1;", "b32 b32",
             [](unsigned lane, Warp warp) { return warp[lane ^ 1][0]; }},
            {"and.b32 %r0, %c, 0x1c1f; shfl.sync.idx.b32 %d, %a, %b, %r0, -1;", "b32 b32 b32 b32",
             [](unsigned lane, Warp warp) {
                 const unsigned c = unsigned(warp[lane][2]) & 0x1c1f;
                 return warp[source_of("idx", lane, unsigned(warp[lane][1]), c).lane][0];
             }},
            {"shfl.sync.idx.b32 %d, %a, 4, 31, 0x92492492;", "b32 b32",
             [](unsigned, Warp warp) { return warp[4][0]; }, true},
            {"mov.u32 %r1, -1; shfl.sync.idx.b32 %d, 77, 4, 31, %r1;", "b32 b32",
             [](unsigned, Warp) { return 77; }},
        });
}

std::uint32_t ballot(Warp warp, std::uint32_t members) {
    std::uint32_t votes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        votes |= std::uint32_t(warp[lane][0] >> 31 & 1) << lane;
    return votes & members;
}

TEST_P(WarpInstructions, Votes) {
    const std::string ask = "setp.lt.s32 %q, %a, 0; ";
    const std::string answer = " selp.b32 %d, 1, 0, %p;";
    check_warps(
        device(),
        {
            {ask + "vote.sync.ballot.b32 %d, %q, -1;", "b32 b32",
             [](unsigned, Warp warp) { return ballot(warp, all); }},
            {ask + "vote.sync.ballot.b32 %d, !%q, -1;", "b32 b32",
             [](unsigned, Warp warp) { return ~ballot(warp, all); }},
            {ask + "vote.sync.ballot.b32 %d, %q, 0x92492492;", "b32 b32",
             [](unsigned, Warp warp) { return ballot(warp, third_lanes); }, true},
            {ask + "vote.sync.any.pred %p, %q, -1;" + answer, "b32 b32",
             [](unsigned, Warp warp) { return ballot(warp, all) != 0; }},
            {ask + "vote.sync.all.pred %p, %q, -1;" + answer, "b32 b32",
             [](unsigned, Warp warp) { return ballot(warp, all) == all; }},
            {ask + "vote.sync.uni.pred %p, %q, -1;" + answer, "b32 b32",
             [](unsigned, Warp warp) { return ballot(warp, all) == all || !ballot(warp, all); }},
            {"setp.eq.b32 %q, %a, %a; vote.sync.all.pred %p, %q, -1;" + answer, "b32 b32",
             [](unsigned, Warp) { return 1; }},
            {"setp.ne.b32 %q, %a, %a; vote.sync.any.pred %p, %q, -1;" + answer, "b32 b32",
             [](unsigned, Warp) { return 0; }},
            {"setp.ne.b32 %q, %a, %a; vote.sync.uni.pred %p, %q, -1;" + answer, "b32 b32",
             [](unsigned, Warp) { return 1; }},
            {"setp.eq.u32 %q, %lane, 4; vote.sync.all.pred %p, %q, 0x92492492;" + answer, "b32 b32",
             [](unsigned, Warp) { return 0; }, true},
            {"setp.eq.u32 %q, %lane, 4; vote.sync.any.pred %p, %q, 0x92492492;" + answer, "b32 b32",
             [](unsigned, Warp) { return 1; }, true},
        });
}

std::uint32_t matching(unsigned lane, Warp warp, std::uint64_t mask, std::uint32_t members) {
    std::uint32_t same = 0;
    for (unsigned other = 0; other < 32; ++other)
        if ((warp[other][0] & mask) == (warp[lane][0] & mask)) same |= 1u << other;
    return same & members;
}

TEST_P(WarpInstructions, Matches) {
    check_warps(
        device(),
        {
            {"and.b32 %r0, %a, 3; match.any.sync.b32 %d, %r0, -1;", "b32 b32",
             [](unsigned lane, Warp warp) { return matching(lane, warp, 3, all); }},
            {"and.b64 %l0, %a, 0x8000000000000001; match.any.sync.b64 %d, %l0, -1;", "b32 b64",
             [](unsigned lane, Warp warp) {
                 return matching(lane, warp, 0x8000000000000001, all);
             }},
            {"and.b32 %r0, %a, 3; match.any.sync.b32 %d, %r0, 0x92492492;", "b32 b32",
             [](unsigned lane, Warp warp) { return matching(lane, warp, 3, third_lanes); }, true},
        });
}

TEST_P(WarpInstructions, MatchesOfAll) {
    const std::string answer = " selp.b32 %r1, 1, 0, %p; xor.b32 %d, %d, %r1;";
    const auto same = [](std::uint64_t mask, std::uint32_t members) {
        return [=](unsigned lane, Warp warp) -> std::uint64_t {
            return matching(lane, warp, mask, members) == members ? members ^ 1 : 0;
        };
    };
    check_warps(
        device(),
        {
            {"and.b32 %r0, %a, 0; match.all.sync.b32 %d|%p, %r0, -1;" + answer, "b32 b32",
             same(0, all)},
            {"and.b32 %r0, %a, 1; match.all.sync.b32 %d|%p, %r0, -1;" + answer, "b32 b32",
             same(1, all)},
            {"mov.u64 %l0, 77; match.all.sync.b64 %d|%p, %l0, -1;" + answer, "b32 b64",
             same(0, all)},
            {"and.b64 %l0, %a, 0x8000000000000000; match.all.sync.b64 %d, %l0, -1;", "b32 b64",
             [](unsigned lane, Warp warp) -> std::uint64_t {
                 return matching(lane, warp, 0x8000000000000000, all) == all ? all : 0;
             }},
            // Only the lanes that take part count.
            {"rem.u32 %r0, %lane, 3; match.all.sync.b32 %d|%p, %r0, 0x92492492;" + answer,
             "b32 b32", [](unsigned, Warp) -> std::uint64_t { return third_lanes ^ 1; }, true},
            {"match.all.sync.b32 %d|%p, %lane, 0x92492492;" + answer, "b32 b32",
             [](unsigned, Warp) -> std::uint64_t { return 0; }, true},
        });
}

TEST_P(WarpInstructions, MaskOfActiveLanes) {
    check_warps(device(), {
                              {"activemask.b32 %d;", "b32 b32", [](unsigned, Warp) { return all; }},
                              {"bar.warp.sync 0x92492492; activemask.b32 %d;", "b32 b32",
                               [](unsigned, Warp) { return third_lanes; }, true},
                          });
}

/// One lane is the leader; all know it, and it alone has the predicate. The emulator elects the
/// lowest one.
TEST_P(WarpInstructions, Elections) {
    if (device().info().kind == compute::DeviceKind::cuda)
        GTEST_SKIP() << "a GPU may elect another lane";
    const std::string answer = " @%p add.u32 %d, %d, 100;";
    check_warps(device(),
                {
                    {"elect.sync %d|%p, -1;" + answer, "b32 b32",
                     [](unsigned lane, Warp) { return lane == 0 ? 100 : 0; }},
                    {"elect.sync %d|%p, 0x92492492;" + answer, "b32 b32",
                     [](unsigned lane, Warp) { return lane == 1 ? 101 : 1; }, true},
                },
                "sm_90");
}

/// Cache hints, and what only concerns the speed of a GPU, change no result.
TEST_P(WarpInstructions, HintsChangeNothing) {
    if (!executes(device(), 90)) GTEST_SKIP() << "the hints need sm_90";
    const std::string hints =
        "createpolicy.fractional.L2::evict_first.b64 %l0, 1.0;\n"
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %l0;\n"
        "st.global.L2::cache_hint.b32 [%to], %a, %l0;\n"
        "ld.global.L1::no_allocate.L2::cache_hint.b32 %r0, [%to], %l0;\n"
        "red.global.add.L2::cache_hint.u32 [%to], %r0, %l0;\n"
        "atom.global.add.L2::cache_hint.u32 %r1, [%to], 1, %l0;\n"
        "ld.global.nc.L2::128B.b32 %r0, [%at];\n"
        "prefetch.global.L2::evict_last [%to];\nprefetchu.L1 [%from];\n"
        "griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n"
        "ld.global.b32 %d, [%to];";
    check_warps(
        device(),
        {{hints, "b32 b32", [](unsigned lane, Warp warp) { return 2 * warp[lane][0] + 1; }}},
        "sm_90");
}

std::uint64_t folded(Warp warp, std::uint32_t members, auto f) {
    std::optional<std::uint32_t> total;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (members >> lane & 1) {
            const auto value = std::uint32_t(warp[lane][0]);
            total = total ? f(*total, value) : value;
        }
    return *total;
}

TEST_P(WarpInstructions, Reductions) {
    if (device().info().kind == compute::DeviceKind::cuda)
        GTEST_SKIP() << "redux needs sm_80, and the GPU may be older";
    const auto least = [](auto a, auto b) { return std::min(a, b); };
    const auto most = [](auto a, auto b) { return std::max(a, b); };
    const auto sum = [](auto a, auto b) { return a + b; };
    const auto as_signed = [](auto f) {
        return [f](std::uint32_t a, std::uint32_t b) {
            return std::uint32_t(f(std::int32_t(a), std::int32_t(b)));
        };
    };
    const auto row = [](const char* operation, auto f) {
        return WarpForm{fmt::format("redux.sync.{} %d, %a, -1;", operation), "b32 b32",
                        [f](unsigned, Warp warp) { return folded(warp, all, f); }};
    };
    check_warps(device(),
                {
                    row("add.u32", sum),
                    row("add.s32", sum),
                    row("min.u32", least),
                    row("max.u32", most),
                    row("min.s32", as_signed(least)),
                    row("max.s32", as_signed(most)),
                    row("and.b32", [](auto a, auto b) { return a & b; }),
                    row("or.b32", [](auto a, auto b) { return a | b; }),
                    row("xor.b32", [](auto a, auto b) { return a ^ b; }),
                    {"redux.sync.add.u32 %d, %a, 0x92492492;", "b32 b32",
                     [sum](unsigned, Warp warp) { return folded(warp, third_lanes, sum); }, true},
                },
                "sm_80");
}

}  // namespace
}  // namespace warpscope::tests
