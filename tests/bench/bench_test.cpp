#include "bench/bench.h"

#include <gtest/gtest.h>

#include "compute/emulated/emulated_device.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::bench {
namespace {

TEST(Bench, MedianIsTheMiddleValue) {
    EXPECT_EQ(median({}), 0);
    EXPECT_EQ(median({3}), 3);
    EXPECT_EQ(median({9, 1, 5}), 5);
    EXPECT_EQ(median({100, 1, 2, 3, 4}), 3);
}

TEST(Bench, ReachedComparesWithUpperAndLowerBounds) {
    BenchRow row{.name = "", .label = "", .value = 2.6, .unit = "x", .wanted = 2.6};
    EXPECT_TRUE(row.reached());
    row.bound = BenchRow::Bound::at_most;
    EXPECT_TRUE(row.reached());
    row.value = 2.61;
    EXPECT_FALSE(row.reached());
    row.bound = BenchRow::Bound::at_least;
    EXPECT_TRUE(row.reached());
    row.value = 2.59;
    EXPECT_FALSE(row.reached());
}

TEST(Bench, ItsArgumentsAreSectionsADeviceAndAFile) {
    using enum BenchSection;
    const BenchSections without_long{emulator, start, edit, gpu, ladders, devices, frames};
    EXPECT_EQ(read_arguments({}).sections, without_long);
    EXPECT_EQ(read_arguments({"--json", "b.json"}).sections, without_long);
    EXPECT_EQ(read_arguments({"--json", "b.json"}).json, "b.json");
    const Arguments named = read_arguments({"gpu,window", "--device", "cuda:1", "edit"});
    EXPECT_EQ(named.sections, (BenchSections{edit, gpu, window}));
    EXPECT_EQ(named.device, "cuda:1");
    EXPECT_TRUE(read_arguments({"--help"}).help);
    for (const char* wrong : {"speed", "gpu,", "--fast", "--json"})
        EXPECT_THROW(read_arguments({wrong}), jobs::UsageError) << wrong;
}

TEST(Bench, MeasuresTheNamedSectionsOnly) {
    compute::Helpers helpers("/nonexistent");
    const auto device = compute::make_emulated_device("tested");
    const auto names = [&](const BenchSections& sections) {
        std::set<std::string> all;
        for (const BenchRow& row : bench_rows(helpers, *device, sections, [](const auto&) {}))
            all.insert(row.name.substr(0, row.name.find('.')));
        return all;
    };
    EXPECT_EQ(names({BenchSection::gpu}), std::set<std::string>()) << "the emulator is no GPU";
    EXPECT_EQ(names({BenchSection::gpu, BenchSection::ladders}),
              (std::set<std::string>{"nbody", "dot", "reduction"}));
}

}  // namespace
}  // namespace warpscope::bench
