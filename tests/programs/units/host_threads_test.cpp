#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "programs/gpu/gpu.h"

namespace warpscope::programs {
namespace {

constexpr std::string_view add_one = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 values) {
    .reg .b32 %r<3>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [values];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3];
    add.s32 %r2, %r2, 1;
    st.global.u32 [%d3], %r2;
    ret;
})";
constexpr unsigned threads = 64;
constexpr unsigned launches = 20;

/// What a host thread of a program does: it loads a module, and counts in memory and in a stream of
/// its own. Calls hold the mutex, as the functions of the CUDA API do.
std::vector<unsigned> count_in_stream(Gpu& gpu) {
    constexpr std::size_t bytes = threads * sizeof(unsigned);
    std::vector<unsigned> values(threads, 5);
    const auto call = [&](auto work) {
        const std::scoped_lock lock(gpu.mutex);
        ++gpu.calls;
        return work();
    };
    LoadedModule* module = call([&] { return gpu.load(add_one.data()); });
    Stream* stream = call([&] { return gpu.streams().create(0, 0); });
    const std::uint64_t memory = call([&] { return gpu.allocate(bytes, MemoryKind::device); });
    const auto host = reinterpret_cast<std::uint64_t>(values.data());
    call([&] {
        gpu.copy(memory, host, bytes, Direction::host_to_device, *stream, Return::at_once);
    });
    for (unsigned i = 0; i < launches; ++i)
        call([&] {
            const std::array<const void*, 1> arguments{&memory};
            gpu.launch(*module->find("add_one"), {.grid = {1, 1, 1}, .block = {threads, 1, 1}},
                       arguments, *stream);
        });
    call([&] {
        gpu.copy(host, memory, bytes, Direction::device_to_host, *stream, Return::when_done);
    });
    call([&] {
        gpu.free(memory);
        gpu.streams().destroy(stream);
        gpu.unload(module);
    });
    return values;
}

class HostThreads : public testing::TestWithParam<bool> {};

// The fifth thread runs work while no thread of the host calls, as that of gpu() does.
TEST_P(HostThreads, HaveTheirOwnStreamsOnOneGpu) {
    ProgramSettings settings;
    settings.checks.race = GetParam();
    Gpu gpu(settings);
    std::atomic<bool> ended = false;
    std::thread beside([&] {
        while (!ended) {
            gpu.run_beside_host(true);
            std::this_thread::yield();
        }
    });
    std::array<std::vector<unsigned>, 4> values;
    std::vector<std::thread> hosts;
    for (auto& one : values) hosts.emplace_back([&] { one = count_in_stream(gpu); });
    for (std::thread& host : hosts) host.join();
    ended = true;
    beside.join();
    for (const auto& one : values) EXPECT_EQ(one, std::vector<unsigned>(threads, 5 + launches));
    gpu.finish();
    const ProgramReport report = gpu.report();
    EXPECT_EQ(report.kernels.at("add_one").launches, 4 * launches);
    EXPECT_TRUE(report.findings.empty());
}

INSTANTIATE_TEST_SUITE_P(Programs, HostThreads, testing::Bool(),
                         [](const auto& info) { return info.param ? "checked" : "unchecked"; });

}  // namespace
}  // namespace warpscope::programs
