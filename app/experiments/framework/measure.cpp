#include "experiments/framework/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace warpscope::experiments {

double newest_median_ms(compute::Device& device, std::string_view kernel, std::size_t launches) {
    return newest_quantile_ms(device, kernel, launches, 0.5);
}

double newest_quantile_ms(compute::Device& device, std::string_view kernel, std::size_t launches,
                          double q) {
    device.synchronize();
    const compute::KernelTiming* timing = device.timings().find(kernel);
    if (!timing || timing->recent_ms.empty()) return 0.0;
    compute::KernelTiming newest;
    const std::size_t count = std::min(launches, timing->recent_ms.size());
    newest.recent_ms.assign(timing->recent_ms.end() - std::ptrdiff_t(count),
                            timing->recent_ms.end());
    return double(newest.quantile_ms(q));
}

std::size_t launches_worth(const compute::Device& device, double ms) {
    constexpr std::size_t least = 9;
    constexpr double budget_ms = 100;
    if (device.info().kind == compute::DeviceKind::emulator || ms <= 0) return least;
    return std::clamp(std::size_t(budget_ms / ms), least, most_launches);
}

double float_error_bound(double roundings) {
    constexpr double unit = 0x1p-24;
    return roundings * unit / (1.0 - roundings * unit);
}

double library_error_bound(const compute::Device& device, std::int64_t n) {
    const double threads = 256.0 * std::max(device.info().multiprocessors, 1);
    return float_error_bound(std::ceil(double(n) / threads) + 64);
}

int tree_steps(unsigned elements) {
    return std::bit_width(std::max(elements, 1u) - 1);
}

std::vector<Tree::Row> tree_rows(const std::vector<compute::BarrierSnapshot>& snapshots,
                                 std::size_t elements, unsigned threads_per_element) {
    std::vector<Tree::Row> rows;
    for (const compute::BarrierSnapshot& snapshot : snapshots) {
        Tree::Row row;
        const std::size_t slash = snapshot.barrier.rfind('/');
        row.label =
            fmt::format("barrier {}, {}", rows.size() + 1,
                        snapshot.barrier.substr(slash == std::string::npos ? 0 : slash + 1));
        row.values.resize(std::min(elements, snapshot.shared.size() / sizeof(float)));
        std::memcpy(row.values.data(), snapshot.shared.data(), row.values.size() * sizeof(float));
        row.active.resize(row.values.size());
        for (const std::uint32_t thread : snapshot.stored)
            if (thread / threads_per_element < row.active.size())
                row.active[thread / threads_per_element] = true;
        for (const auto& [from, to] : snapshot.flows) {
            const std::pair<unsigned, unsigned> edge(from / sizeof(float), to / sizeof(float));
            if (std::max(edge.first, edge.second) < row.values.size()) row.edges.push_back(edge);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

SharedMemoryCleaner::SharedMemoryCleaner(compute::Device& device)
    : device_(device), kernel_(device.shipped_kernel<int>("clear", "clear_shared")) {}

void SharedMemoryCleaner::launch() {
    // 28 blocks of 8 KiB (and 1 KiB of the system's) fill the largest multiprocessor so far, of
    // 228 KiB. The emulator gives every block the same memory.
    constexpr unsigned bytes = 8 * 1024;
    const unsigned resident = device_.info().kind == compute::DeviceKind::emulator ? 1 : 28;
    const unsigned blocks = unsigned(std::max(device_.info().multiprocessors, 1)) * resident;
    device_.launch(kernel_, {.grid = {blocks}, .block = {64}, .dynamic_shared_bytes = bytes}, {},
                   int(bytes / 4));
}

namespace {
constexpr unsigned evictor_block = 256;  // threads, of two elements each
}

CacheEvictor::CacheEvictor(compute::Device& device)
    : device_(device),
      read_(device.shipped_kernel<Floats, Floats, unsigned>("reduce_ladder", "reduce_shuffle")) {
    const std::size_t count = 2 * device.info().cache_bytes / sizeof(float);
    if (count == 0) return;
    others_ = compute::Buffer<float>(device, count);
    others_.fill(0);
    sums_ = compute::Buffer<float>(device, count / (2 * evictor_block) + 1);
}

void CacheEvictor::launch() {
    if (others_.size() == 0) return;
    const unsigned count = unsigned(others_.size());
    constexpr unsigned share = 2 * evictor_block;
    device_.time_as("evict_cache", {.bytes = double(count) * sizeof(float)}, [&] {
        device_.launch(read_, {.grid = {(count + share - 1) / share}, .block = {evictor_block}}, {},
                       others_.pointer(), sums_.pointer(), count);
    });
}

void require_memory(const compute::Device& device, std::int64_t n, double bytes_per_element) {
    const double needed = double(n) * bytes_per_element;
    const double there = double(device.info().memory_bytes);
    if (needed <= there) return;
    throw compute::OutOfMemory(
        fmt::format("n = {} needs {:.1f} GiB and the device has {:.1f} GiB: choose at most {}", n,
                    needed / 0x1p30, there / 0x1p30, std::int64_t(there / bytes_per_element)));
}

std::string grouped(unsigned long long value) {
    std::string text = std::to_string(value);
    for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, " ");
    return text;
}

}  // namespace warpscope::experiments
