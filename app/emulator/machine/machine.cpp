#include "emulator/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "emulator/machine/dispatch.h"
#include "emulator/machine/parallel.h"
#include "emulator/machine/together/launch_together.h"
#include "emulator/program/error.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {

namespace {

void check_cluster(const Kernel& kernel, const LaunchShape& launch) {
    constexpr std::uint64_t most_blocks = 16;  // more than 8 need an attribute of the kernel
    const Dim3 &c = launch.cluster, &g = launch.grid;
    const auto fail = [&](const std::string& what) {
        throw Error(fmt::format("kernel {}: a cluster of {}x{}x{} blocks {}", kernel.name, c.x, c.y,
                                c.z, what));
    };
    if (kernel.cluster.count() > 1 && kernel.cluster != c)
        fail(fmt::format("is not that for which the kernel is compiled, {}x{}x{}", kernel.cluster.x,
                         kernel.cluster.y, kernel.cluster.z));
    if (c.count() == 0 || c.count() > most_blocks)
        fail(fmt::format("is too large: the limit is {} blocks", most_blocks));
    if (g.x % c.x || g.y % c.y || g.z % c.z)
        fail(fmt::format("does not divide the grid of {}x{}x{} blocks", g.x, g.y, g.z));
}

void check_shape(const Kernel& kernel, const LaunchShape& launch) {
    const auto fail = [&](const std::string& what) {
        throw Error(fmt::format("kernel {}: {}", kernel.name, what));
    };
    const Dim3 &g = launch.grid, &b = launch.block;
    if (g.count() == 0 || b.count() == 0) fail("the launch has no threads");
    if (b.count() > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64)
        fail(
            fmt::format("a block of {}x{}x{} threads is too large: the limits are 1024x1024x64 and "
                        "1024 threads",
                        b.x, b.y, b.z));
    if (b.count() > kernel.most_threads)
        fail(fmt::format("a block has {} threads, and __launch_bounds__ of the kernel allows {}",
                         b.count(), kernel.most_threads));
    if (g.count() > 0xFFFFFFFFull || g.x > 0x7FFFFFFF || g.y > 65535 || g.z > 65535)
        fail(
            fmt::format("a grid of {}x{}x{} blocks is too large: the limits are "
                        "2147483647x65535x65535 and 4294967295 blocks",
                        g.x, g.y, g.z));
    check_cluster(kernel, launch);
    const std::uint64_t shared = std::uint64_t(kernel.shared_bytes) + launch.dynamic_shared_bytes;
    if (shared > Machine::max_shared_bytes)
        fail(
            fmt::format("{} bytes of shared memory are more than the limit of {} bytes for a block",
                        shared, Machine::max_shared_bytes));
}

std::vector<std::byte> pack(const Kernel& kernel, std::span<const void* const> arguments) {
    if (arguments.size() != kernel.parameters.size())
        throw Error(fmt::format("kernel {} takes {} arguments, not {}", kernel.name,
                                kernel.parameters.size(), arguments.size()));
    std::vector<std::byte> packed(kernel.parameter_bytes);
    for (std::size_t k = 0; k < arguments.size(); ++k)
        std::copy_n(static_cast<const std::byte*>(arguments[k]), kernel.parameters[k].size,
                    packed.begin() + kernel.parameters[k].offset);
    return packed;
}

}  // namespace

Machine::Machine(unsigned virtual_sms)
    : own_{std::vector<AlignedBytes>(std::max(1u, virtual_sms)), {}} {}

std::span<std::byte> Machine::shared_memory(unsigned sm, std::size_t bytes) {
    AlignedBytes& memory = own_.shared[sm];
    if (memory.size() < bytes) {
        const AlignedBytes larger(bytes);
        std::fill_n(larger.data(), bytes, std::byte(0));
        std::copy_n(memory.data(), memory.size(), larger.data());
        memory = larger;
    }
    return {memory.data(), memory.size()};
}

std::string Machine::take_output() {
    std::string text = own_.output.text();
    if (own_.output.is_cut())
        text += fmt::format("{}(the output is cut after {} lines)\n",
                            text.ends_with('\n') ? "" : "\n", own_.output.lines());
    own_.output = {};
    return text;
}

FrozenLaunch Machine::freeze(const Kernel& kernel, const LaunchShape& launch,
                             std::span<const void* const> arguments,
                             const LaunchSettings& settings) {
    FrozenLaunch frozen{&kernel, launch, {}, settings};
    if (launch.cluster.count() == 1) frozen.launch.cluster = kernel.cluster;
    frozen.launch.cooperative |= kernel.synchronises_grid;
    check_shape(kernel, frozen.launch);
    frozen.arguments = pack(kernel, arguments);
    return frozen;
}

Statistics Machine::run(const Kernel& kernel, const LaunchShape& launch,
                        std::span<const void* const> arguments, const LaunchSettings& settings,
                        Observer* observer) {
    return run(freeze(kernel, launch, arguments, settings), observer);
}

Statistics Machine::run_clusters(const FrozenLaunch& launch, unsigned threads, Observer* observer) {
    const Kernel& kernel = *launch.kernel;
    threads = unsigned(std::clamp<std::uint64_t>(launch.launch.clusters().count(), 1, threads));
    const Observers observers(observer, kernel.order_dependent ? 1 : threads);
    ClusterLaunch clusters(kernel, launch, memory_, virtual_sms());
    std::vector<Statistics> parts(observers.threads());
    run_parallel(observers.threads(),
                 [&](unsigned k) { parts[k] = clusters.run(observers.of(k)); });
    observers.join();
    clusters.end(observer, own_.output);
    if (observer) observer->on_launch_end();
    return std::accumulate(parts.begin(), parts.end(), Statistics{},
                           [](Statistics all, const Statistics& part) { return all += part; });
}

Statistics Machine::run(const FrozenLaunch& frozen, Observer* observer,
                        const LaunchMethod& method) {
    const LaunchShape& launch = frozen.launch;
    LaunchSettings settings = frozen.settings;
    if (method.schedule) settings.schedule = *method.schedule;
    const Kernel& kernel = method.code ? *method.code : *frozen.kernel;
    const std::size_t shared_bytes = kernel.shared_bytes + launch.dynamic_shared_bytes;
    for (unsigned sm = 0; sm < virtual_sms(); ++sm) shared_memory(sm, shared_bytes);
    const std::uint64_t first = std::min(settings.first_block, launch.grid.count());
    const bool together = launch.cooperative || !settings.together.empty();
    const std::uint64_t blocks =
        together ? 0 : std::min(settings.blocks, launch.grid.count() - first);
    if (observer) observer->on_launch(kernel, launch);
    if (observer) observer->on_arguments(frozen.arguments);
    if (together && first == 0)
        return run_cooperative(kernel, {&kernel, launch, frozen.arguments, settings}, memory_,
                               virtual_sms(), observer, own_.output, method.make_events);
    unsigned threads = settings.threads ? settings.threads : hardware_threads();
    if (ClusterLaunch::is_needed(kernel, launch))
        return run_clusters({&kernel, launch, frozen.arguments, settings}, threads, observer);
    Budget budget(settings);
    const bool in_any_order = method.dealing == BlockDealing::as_they_come;
    threads = unsigned(std::clamp<std::uint64_t>(
        in_any_order ? blocks : std::min<std::uint64_t>(virtual_sms(), blocks), 1, threads));
    if (kernel.order_dependent) threads = 1;
    const Observers observers(observer, threads);
    threads = observers.threads();
    // An observer that cannot fork may look at shared memory.
    const bool takes_blocks = in_any_order && !(observer && threads == 1);
    const GridOrder order =
        observer && kernel.order_dependent ? settings.block_order : GridOrder::ascending;
    Dispatch dispatch(first, first + blocks, settings, virtual_sms(), threads);
    std::vector<Statistics> parts(threads);
    run_parallel(threads, [&](unsigned k) {
        const FloatMode mode(kernel.flush_subnormals);
        BlockRunner runner(kernel, launch, memory_, frozen.arguments, settings, budget,
                           method.make_events);
        if (takes_blocks)
            dispatch.run_blocks(runner, own_.shared, shared_bytes, observers.of(k));
        else if (threads == 1)
            order == GridOrder::ascending
                ? dispatch.run_in_order(runner, own_.shared, observers.of(0))
                : dispatch.run_in(order, settings.seed, runner, own_.shared, observers.of(0));
        else
            dispatch.run_sms(runner, own_.shared, observers.of(k));
        parts[k] = runner.statistics();
        if (observer) observers.of(k)->on_executions(runner.executions());
    });
    observers.join();
    dispatch.move_prints_into(own_.output);
    dispatch.rethrow(observer);
    if (observer) observer->on_launch_end();
    Statistics total;
    for (const Statistics& s : parts) total += s;
    return total;
}

}  // namespace warpscope::emulator
