#include "experiments/replicas/specimen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "emulator/stepper/stepper.h"
#include "experiments/live.h"
#include "experiments/settings.h"

namespace warpscope::experiments {
namespace {

using compute::RunSettings;
using tests::first_argument;
using tests::Live;
using tests::runs;

/// Steps both experiments once.
void step_both(Live& live, const Replica& replica) {
    live.experiment().step();
    replica.experiment->step();
    EXPECT_EQ(replica.experiment->frame(), live.experiment().frame());
}

TEST(CopyToEmulator, DrawsTheNextFrameLikeTheLiveExperiment) {
    for (const char* id : {"ripple", "nbody"})
        for (const RunSettings& run : runs) {
            Live live(id, {}, run);
            if (id == std::string("ripple"))
                tests::set(live.experiment(), {{"sync", "off"}, {"size", "100"}, {"speed", "3"}});
            else
                tests::set(live.experiment(), {{"bodies", "300"}, {"start", "collision"}});
            live.experiment().step();
            const Replica replica = make_replica(live.entry(), live.experiment(), run);
            step_both(live, replica);
            const std::vector<Rgba> expected = live.picture();
            const std::vector<Rgba> picture = Live::picture_of(*replica.experiment);
            ASSERT_EQ(picture.size(), expected.size());
            EXPECT_EQ(std::memcmp(picture.data(), expected.data(), picture.size() * sizeof(Rgba)),
                      0)
                << id;
        }
}

TEST(CopyToEmulator, SumsLikeTheLiveExperiment) {
    for (const char* id : {"dot", "reduction"}) {
        Live live(id, {{"n", "5000"}, {"block", "96"}});
        const Replica replica = make_replica(live.entry(), live.experiment(), {});
        step_both(live, replica);
        EXPECT_EQ(tests::reading(replica.experiment->report(), "value").value,
                  tests::reading(live.experiment().report(), "value").value);
    }
}

TEST(CopyToEmulator, NeedsNoMoreThanTheMemoryLimit) {
    Live live("dot", {{"n", "100000"}});
    EXPECT_NO_THROW(make_replica(live.entry(), live.experiment(), {}, 1'200'000));
    EXPECT_THROW(make_replica(live.entry(), live.experiment(), {}, 700'000), compute::OutOfMemory);
}

TEST(Specimen, HoldsTheLaunchOfTheLiveFrame) {
    for (const RunSettings& run : runs)
        for (const char* size : {"64", "100"}) {
            Live live("ripple", {{"size", size}, {"sync", "off"}, {"pattern", "ripple"}}, run);
            const std::vector<Rgba> picture = live.picture();
            Specimen specimen = live.specimen();
            EXPECT_EQ(specimen.launch().kernel->name, "ripple_txty_nosync");
            const std::byte* pixels = first_argument(specimen.launch());
            const std::size_t bytes = picture.size() * sizeof(Rgba);
            EXPECT_NE(std::memcmp(pixels, picture.data(), bytes), 0) << "before the launch";
            specimen.machine().run(specimen.launch());
            EXPECT_EQ(std::memcmp(pixels, picture.data(), bytes), 0);
        }
}

TEST(Specimen, StartsFromTheLiveState) {
    Live live("nbody", {{"bodies", "100"}, {"block", "32"}});
    Specimen specimen = live.specimen();
    specimen.machine().run(specimen.launch());
    // Two more steps of the live experiment must not change the replica.
    Specimen later = live.specimen();
    live.experiment().step();
    live.experiment().step();
    later.machine().run(later.launch());
    constexpr std::size_t bytes = 100 * 4 * sizeof(float);
    EXPECT_EQ(std::memcmp(first_argument(specimen.launch()), first_argument(later.launch()), bytes),
              0);
    Specimen newest = live.specimen();
    newest.machine().run(newest.launch());
    EXPECT_NE(
        std::memcmp(first_argument(specimen.launch()), first_argument(newest.launch()), bytes), 0);
}

TEST(Specimen, SteppedBlocksDrawThePixelsOfTheLivePicture) {
    constexpr int size = 100, tile = 16, across = 7;
    // Of corners, edges and the middle; 30 and later find what another block left in the tile.
    for (const RunSettings& run : runs) {
        Live live("ripple", {{"size", "100"}, {"sync", "off"}, {"pattern", "ripple"}}, run);
        const std::vector<Rgba> picture = live.picture();
        Specimen specimen = live.specimen();
        const std::byte* pixels = first_argument(specimen.launch());
        const std::vector<std::byte> before(pixels, pixels + picture.size() * sizeof(Rgba));
        for (const std::uint32_t block : {0u, 6u, 9u, 30u, 41u, 42u, 48u}) {
            std::vector<std::byte> expected = before;
            // After the blocks that its virtual SM runs before it.
            const unsigned sms = specimen.machine().virtual_sms();
            for (std::uint32_t b = block % sms; b <= block; b += sms) {
                const std::size_t left = b % across * tile, top = b / across * tile;
                for (std::size_t y = top; y < std::min<std::size_t>(top + tile, size); ++y)
                    for (std::size_t x = left; x < std::min<std::size_t>(left + tile, size); ++x)
                        std::memcpy(&expected[(y * size + x) * sizeof(Rgba)],
                                    &picture[y * size + x], sizeof(Rgba));
            }
            {
                emulator::Stepper stepper(specimen.machine(), specimen.launch(), block);
                stepper.run();
                EXPECT_EQ(stepper.end(), emulator::Stepper::End::finished);
                EXPECT_EQ(std::memcmp(pixels, expected.data(), expected.size()), 0)
                    << "block " << block;
            }
            EXPECT_EQ(std::memcmp(pixels, before.data(), before.size()), 0) << "taken back";
        }
    }
}

}  // namespace
}  // namespace warpscope::experiments
