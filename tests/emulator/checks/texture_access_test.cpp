#include <memory>
#include <string>

#include "emulator/checks/memory_check.h"
#include "emulator/counters/access_counters.h"
#include "emulator/launcher.h"
#include "emulator/ptx_fixture.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"

// The checks and the counters see accesses by texture and surface instructions.
namespace warpscope::emulator {
namespace {

// A kernel whose n is the handle of an image in rows of 32 words, %r2 = 4 * tid, %rd2 = n.
class ObservedImage {
  public:
    explicit ObservedImage(const std::string& body, std::uint32_t rows = 1)
        : runner_(kernel_text("cvt.u64.u32 %rd2, %r0; shl.b32 %r2, %r1, 2; mov.u32 %r3, 0;"
                              "mov.f32 %f2, 0f00000000; cvt.rn.f32.u32 %f1, %r1;" +
                              body)) {
        words_ = runner_.machine.memory().allocate(std::size_t(rows) * 128);
        image = {.memory = std::uint64_t(words_),
                 .width = 32,
                 .height = rows == 1 ? 0 : rows,
                 .pitch = 128,
                 .numbers = Texture::Numbers::unsigned_};
    }
    void run(Observer& observer, LaunchShape shape) {
        runner_.observer = &observer;
        runner_.run(shape, std::uint32_t(runner_.machine.memory().textures().add(image)), 256);
    }
    std::uint64_t memory() const { return std::uint64_t(words_); }

    Texture image;

  private:
    Runner runner_;
    void* words_;
};

std::uint64_t image_hazards(const std::string& body, std::uint32_t threads) {
    ObservedImage k(body);
    RaceDetector races;
    k.run(races, one_block(threads));
    std::uint64_t count = 0;
    for (const Finding& f : races.findings()) count += f.count;
    return count;
}

// Each of 32 threads stores a word, and each of 32 others of another warp loads it.
const std::string word_of_lane = "and.b32 %r4, %r2, 127; setp.lt.u32 %p1, %r1, 32;";
const std::string surface_store = "@%p1 sust.b.1d.b32.trap [%rd2, {%r4}], {%r1};";
const std::string surface_load = "@!%p1 suld.b.1d.b32.trap {%r5}, [%rd2, {%r4}];";

TEST(ImageAccesses, AStoreToASurfaceAndALoadOfItRaceWithoutABarrier) {
    EXPECT_EQ(image_hazards(word_of_lane + surface_store + surface_load, 64), 32u);
    EXPECT_EQ(image_hazards(word_of_lane + surface_store + "bar.sync 0;" + surface_load, 64), 0u);
}

// Thread 4 fetches at 5, which is half of element 4 and half of element 5. Thread 32 writes one.
TEST(ImageAccesses, AllElementsThatAFilterReadsAreAccessed) {
    const auto races_with = [](unsigned element) {
        ObservedImage k(
            "setp.eq.u32 %p1, %r1, 4; mov.f32 %f1, 0f40A00000;"
            "@%p1 tex.1d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd2, {%f1}];"
            "setp.eq.u32 %p2, %r1, 32; mov.u32 %r4, " +
            std::to_string(4 * element) + "; @%p2 sust.b.1d.b32.trap [%rd2, {%r4}], {%r1};");
        k.image.numbers = Texture::Numbers::float_;
        k.image.linear = true;
        RaceDetector races;
        k.run(races, one_block(64));
        return races.findings().size();
    };
    EXPECT_EQ(races_with(3), 0u);
    EXPECT_EQ(races_with(4), 1u);
    EXPECT_EQ(races_with(5), 1u);
    EXPECT_EQ(races_with(6), 0u);
}

// Thread 0 of each block stores its block's number to word 3.
TEST(ImageAccesses, BlocksRaceForAWordOfASurface) {
    ObservedImage k(
        "mov.u32 %r4, %ctaid.x; mov.u32 %r5, 12; setp.eq.u32 %p1, %r1, 0;"
        "@%p1 sust.b.1d.b32.trap [%rd2, {%r5}], {%r4};");
    GridRaces races;
    k.run(races, {{2, 1, 1}, {32, 1, 1}, 0});
    ASSERT_EQ(races.findings().size(), 1u);
    EXPECT_EQ(races.findings()[0].count, 1u);
    EXPECT_EQ(races.findings()[0].severity, Severity::error);
}

// Words 0 to 9 are written by the host.
TEST(ImageAccesses, AFetchOfMemoryThatNobodyHasWrittenIsFound) {
    ObservedImage k("tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, {%r1}];");
    MemoryCheck check;
    check.on_allocate(k.memory(), 128);
    check.on_host_write(k.memory(), 40);
    k.run(check, one_block(32));
    ASSERT_EQ(check.findings().size(), 1u);
    EXPECT_EQ(check.findings()[0].kind, FindingKind::uninitialized);
    EXPECT_EQ(check.findings()[0].count, 22u);
}

// What a surface store writes counts as written.
TEST(ImageAccesses, AStoreToASurfaceWritesItsMemory) {
    ObservedImage k(
        "sust.b.1d.b32.trap [%rd2, {%r2}], {%r1}; bar.sync 0;"
        "suld.b.1d.b32.trap {%r5}, [%rd2, {%r2}];");
    MemoryCheck check;
    check.on_allocate(k.memory(), 128);
    k.run(check, one_block(32));
    EXPECT_TRUE(check.findings().empty());
}

std::uint64_t undefined_in_image(const std::string& body) {
    ObservedImage k("setp.lt.u32 %p9, %r1, 10; @%p9 mov.u32 %r20, 8;" + body);
    MemoryCheck check;
    k.run(check, one_block(32));
    std::uint64_t lanes = 0;
    for (const Finding& f : check.findings())
        if (f.kind == FindingKind::undefined) lanes += f.count;
    return lanes;
}

// %r20 is set in 10 lanes.
TEST(ImageAccesses, AnUndefinedValueIsFoundInAStoreAndInACoordinate) {
    EXPECT_EQ(undefined_in_image("sust.b.1d.b32.trap [%rd2, {%r2}], {%r20};"), 22u);
    EXPECT_EQ(undefined_in_image("sust.b.1d.b32.zero [%rd2, {%r20}], {%r1};"), 22u);
    EXPECT_EQ(undefined_in_image("tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, {%r20}];"), 22u);
    EXPECT_EQ(undefined_in_image("sust.b.1d.b32.trap [%rd2, {%r2}], {%r1};"), 0u);
}

MemoryCounts image_loads(ObservedImage& k) {
    AccessCounters counters;
    k.run(counters, one_block(32));
    return counters.kernels().at(0).global_loads;
}

TEST(ImageAccesses, AFetchOfARowIsFourSectors) {
    ObservedImage k("tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, {%r1}];");
    EXPECT_EQ(image_loads(k),
              (MemoryCounts{.requests = 1, .bytes = 128, .sectors = 4, .least_sectors = 4}));
}

// Of a column, each of 32 lanes has a sector of its own: 128 bytes fit into 4.
TEST(ImageAccesses, AFetchOfAColumnIsASectorForEachLane) {
    ObservedImage k("tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%f2, %f1}];", 32);
    EXPECT_EQ(image_loads(k),
              (MemoryCounts{.requests = 1, .bytes = 128, .sectors = 32, .least_sectors = 4}));
}

// Lane l reads elements l and l + 1 of 32 (the last one twice): 32 elements in 4 sectors, 64 reads
// of 4 bytes.
TEST(ImageAccesses, ElementsThatLanesShareAreTransferredOnce) {
    ObservedImage k(
        "add.f32 %f1, %f1, 0f3F800000; tex.1d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd2, {%f1}];");
    k.image.numbers = Texture::Numbers::float_;
    k.image.linear = true;
    EXPECT_EQ(image_loads(k),
              (MemoryCounts{.requests = 1, .bytes = 256, .sectors = 4, .least_sectors = 4}));
}

// Outside of a surface that takes no notice of it, nothing is accessed.
TEST(ImageAccesses, WhatLiesOutsideIsNotAccessed) {
    ObservedImage k("add.u32 %r2, %r2, 64; sust.b.1d.b32.zero [%rd2, {%r2}], {%r1};");
    AccessCounters counters;
    k.run(counters, one_block(32));
    EXPECT_EQ(counters.kernels().at(0).global_stores,
              (MemoryCounts{.requests = 1, .bytes = 64, .sectors = 2, .least_sectors = 2}));
}

}  // namespace
}  // namespace warpscope::emulator
