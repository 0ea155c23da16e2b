#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "compute/pick_device.h"
#include "compute/ranks/nccl_exchange.h"
#include "support/ranks.h"

namespace warpscope::compute {
namespace {

/// Each rank's array, where value i is 100 * rank + i.
std::vector<Buffer<std::uint64_t>> arrays_of(const Exchange& exchange, std::size_t count) {
    std::vector<Buffer<std::uint64_t>> arrays;
    for (std::size_t rank = 0; rank < exchange.ranks(); ++rank) {
        std::vector<std::uint64_t> values(count);
        std::iota(values.begin(), values.end(), 100 * rank);
        arrays.emplace_back(*exchange.devices()[rank], values);
    }
    return arrays;
}

std::vector<std::uint64_t> addresses(const std::vector<Buffer<std::uint64_t>>& arrays) {
    std::vector<std::uint64_t> found;
    for (const auto& array : arrays) found.push_back(array.pointer().address);
    return found;
}

TEST(Exchange, GathersUnevenShares) {
    const auto device = tests::emulators(3);
    const auto arrays = arrays_of(*device->exchange(), 5);
    const std::size_t bounds[] = {0, 8, 8, 40};  // values 0; none; 1 to 4
    device->exchange()->all_gather(addresses(arrays), bounds);
    for (const auto& array : arrays)
        EXPECT_EQ(array.download(), (std::vector<std::uint64_t>{0, 201, 202, 203, 204}));
}

TEST(Exchange, SumsOverAllRanks) {
    const auto device = tests::emulators(3);
    const auto arrays = arrays_of(*device->exchange(), 2);
    device->exchange()->sum(addresses(arrays), 2);
    for (const auto& array : arrays)
        EXPECT_EQ(array.download(), (std::vector<std::uint64_t>{300, 303}));
}

TEST(Exchange, IsNamedWithItsDevices) {
    const auto device = tests::emulators(2);
    EXPECT_EQ(device->info().name, "2 × SIMT emulator");
    EXPECT_EQ(device->info().reason, "rank 0; memory of this computer");
}

TEST(Exchange, IsNotEndedByAStopRequest) {
    const auto device = tests::emulators(2);
    const auto arrays = arrays_of(*device->exchange(), 1);
    std::stop_source stop;
    stop.request_stop();
    device->set_launch_limits({.stop = stop.get_token()});
    const std::size_t bounds[] = {0, 8, 8};
    EXPECT_NO_THROW(device->exchange()->all_gather(addresses(arrays), bounds));
    EXPECT_TRUE(device->launch_limits().stop.stop_requested());
}

TEST(Nccl, IsNamedInTheErrorOfAMissingLibrary) {
    try {
        load_nccl("libnccl-of-nobody.so.2");
        FAIL() << "there is no such library";
    } catch (const DeviceError& e) {
        const std::string words = e.what();
        EXPECT_NE(words.find("install NCCL"), words.npos) << words;
        EXPECT_EQ(words.find('\n'), words.npos);
    }
}

TEST(PickRanks, TakesNoUnclearListOfGpus) {
    for (const char* wish :
         {"cuda:0,", "cuda:0,0", "cuda:,1", "cuda:0,x", "cuda:0,-1", "emulator,1"})
        EXPECT_THROW(pick_ranks(wish), std::invalid_argument) << wish;
}

TEST(PickRanks, GivesOneEmulatorNoExchange) {
    EXPECT_EQ(pick_ranks("emulator")->exchange(), nullptr);
}

class Places : public testing::Test {
  protected:
    void TearDown() override {
        for (const char* name :
             {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"})
            ::unsetenv(name);
    }
};

TEST_F(Places, AreThoseThatMpirunGives) {
    EXPECT_EQ(place_of_process().count, 1);
    ::setenv("PMI_RANK", "1", 1);
    ::setenv("PMI_SIZE", "4", 1);
    EXPECT_EQ(place_of_process().index, 1);
    EXPECT_EQ(place_of_process().count, 4);
    ::setenv("OMPI_COMM_WORLD_RANK", "2", 1);
    ::setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    EXPECT_EQ(place_of_process().index, 2);
    EXPECT_EQ(place_of_process().count, 3);
}

TEST_F(Places, OfNonsenseAreThoseOfOneProcess) {
    ::setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    ::setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    EXPECT_EQ(place_of_process().count, 1);
    ::setenv("OMPI_COMM_WORLD_SIZE", "three", 1);
    EXPECT_EQ(place_of_process().count, 1);
}

}  // namespace
}  // namespace warpscope::compute
