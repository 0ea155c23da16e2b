#include "compute/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "compute/cuda/cuda_device.h"
#include "compute/emulated/emulated_device.h"

namespace warpscope::compute {
namespace {

constexpr unsigned block_size = 256, words_a_thread = 4;
constexpr unsigned fmas_a_round = 256;

struct Word16 {
    std::uint32_t part[4];
};

/// The amount of work that is measured. It takes much longer than a launch, on a GPU of any size.
struct Extent {
    std::size_t copy_bytes;  ///< size of each of the two buffers
    /// Size of the smallest buffers, for a device without memory for those.
    std::size_t least_bytes;
    unsigned blocks;  ///< blocks of fma_chains and read16, which fill the device once
    int rounds;
    int launches;
};

Extent extent_of(const DeviceInfo& info) {
    const auto processors = unsigned(std::max(info.multiprocessors, 1));
    if (info.kind == DeviceKind::emulator)
        return {std::size_t(4) << 20, std::size_t(4) << 20, processors, 8, 8};
    // Eight blocks fill the 2048 threads of a multiprocessor. 512 rounds take about a millisecond,
    // and an idle GPU raises its clocks within 40 launches.
    const std::size_t least = std::max(4 * info.cache_bytes, std::size_t(4) << 20);
    return {std::size_t(1) << 30, least, 8 * processors, 512, 40};
}

float fastest_ms(Device& device, std::string_view kernel) {
    device.synchronize();
    const KernelTiming* timing = device.timings().find(kernel);
    return timing ? *std::min_element(timing->recent_ms.begin(), timing->recent_ms.end()) : 0;
}

double per_second(double amount, float milliseconds) {
    return milliseconds > 0 ? amount / milliseconds * 1e3 : 0;
}

void measure_flops(Device& device, const Extent& extent, Ceilings& result) {
    Buffer<float> out(device, std::size_t(extent.blocks) * block_size);
    const auto kernel =
        device.kernel<DevicePointer<float>, float, float, int>("ceilings", "fma_chains");
    (void)gpu_state(device.info().pci_bus_id);  // not timed: the first call is slow
    for (int i = 0; i < extent.launches; ++i)
        device.launch(kernel, {{extent.blocks}, {block_size}}, {}, out.pointer(), -1.0F, 1.0F,
                      extent.rounds);
    result.gpu = gpu_state(device.info().pci_bus_id);
    const double fmas = double(out.size()) * fmas_a_round * extent.rounds;
    result.flops_per_second = per_second(2 * fmas, fastest_ms(device, "fma_chains"));
}

/// Allocates two buffers of copy_bytes, or smaller ones if memory is short.
std::pair<Buffer<Word16>, Buffer<Word16>> two_buffers(Device& device, const Extent& extent) {
    for (std::size_t bytes = extent.copy_bytes;; bytes /= 2) {
        try {
            const std::size_t count = bytes / sizeof(Word16);
            return {Buffer<Word16>(device, count), Buffer<Word16>(device, count)};
        } catch (const DeviceError&) {
            if (bytes / 2 < extent.least_bytes) throw;
        }
    }
}

void measure_bandwidth(Device& device, const Extent& extent, Ceilings& result) {
    using Words = DevicePointer<Word16>;
    auto [from, to] = two_buffers(device, extent);
    from.fill(0x5a);
    to.fill(0xa5);
    const auto count = unsigned(from.size());
    const unsigned tile = words_a_thread * block_size;
    const auto copy = device.kernel<Words, Words, unsigned>("ceilings", "copy16");
    const auto read = device.kernel<DevicePointer<unsigned>, Words, unsigned>("ceilings", "read16");
    Buffer<unsigned> out(device, std::size_t(extent.blocks) * block_size);
    for (int i = 0; i < 8; ++i) {
        device.launch(copy, {{(count + tile - 1) / tile}, {block_size}}, {}, to.pointer(),
                      from.pointer(), count);
        device.launch(read, {{extent.blocks}, {block_size}}, {}, out.pointer(), from.pointer(),
                      count);
    }
    const double bytes = double(from.size()) * sizeof(Word16);
    result.bytes_per_second = per_second(2 * bytes, fastest_ms(device, "copy16"));
    result.read_bytes_per_second = per_second(bytes, fastest_ms(device, "read16"));
}

void measure_launch(Device& device, Ceilings& result) {
    const auto kernel = device.kernel<>("ceilings", "empty");
    const auto median_of = [&](bool lone) {
        device.timings().clear();
        for (int i = 0; i < 33; ++i) {
            device.launch(kernel, {{1}, {32}}, {});
            if (lone) device.synchronize();
        }
        device.synchronize();
        return device.timings().find("empty")->median_ms();
    };
    result.lone_launch_ms = median_of(true);
    result.queued_launch_ms = median_of(false);
}

Ceilings measure(const Device& like) {
    const DeviceInfo& info = like.info();
    const bool gpu = info.kind == DeviceKind::cuda;
    // A device of its own, so that the timings and seeds of the caller's device do not change.
    const std::unique_ptr<Device> device =
        gpu ? make_cuda_device(info.ordinal, "") : make_emulated_device("");
    device->set_launch_limits({.stop = like.launch_limits().stop});
    device->set_progress(like.progress());
    const Extent extent = extent_of(info);
    Ceilings result{.cache_bytes = info.cache_bytes};
    // CUDA Runtime API, cudaEventElapsedTime: "a resolution of around 0.5 microseconds".
    if (gpu) result.resolution_ms = 0.0005F;
    measure_flops(*device, extent, result);
    measure_bandwidth(*device, extent, result);
    measure_launch(*device, result);
    return result;
}

/// The results so far. They are never removed, so that references to them stay valid.
struct Measured {
    std::mutex mutex;
    std::map<int, Ceilings> by_ordinal;  ///< by CUDA device ordinal; -1 is the emulator

    const Ceilings* find(int ordinal) {
        const std::lock_guard lock(mutex);
        const auto found = by_ordinal.find(ordinal);
        return found == by_ordinal.end() ? nullptr : &found->second;
    }
    const Ceilings& keep(int ordinal, const Ceilings& ceilings) {
        const std::lock_guard lock(mutex);
        return by_ordinal.emplace(ordinal, ceilings).first->second;
    }
};

Measured& measured() {
    static Measured results;
    return results;
}

}  // namespace

const Ceilings& measure_ceilings(Device& device) {
    const int ordinal = device.info().ordinal;
    if (const Ceilings* known = measured().find(ordinal)) return *known;
    device.synchronize();
    return measured().keep(ordinal, measure(device));
}

const Ceilings* known_ceilings(const DeviceInfo& device) {
    return measured().find(device.ordinal);
}

namespace {

std::string bytes_text(double bytes) {
    return bytes < 1e6 ? fmt::format("{:.3g} kB", bytes / 1e3)
                       : fmt::format("{:.3g} MB", bytes / 1e6);
}

std::string short_note(const Ceilings& c) {
    std::string text = "Too short to be timed alone: an empty kernel takes ";
    text += fmt::format("{:.1f} µs", c.lone_launch_ms * 1e3);
    if (c.resolution_ms > 0)
        text += fmt::format(" ({:.1f} µs behind other launches), and events resolve {:.1f} µs",
                            c.queued_launch_ms * 1e3, c.resolution_ms * 1e3);
    return text + ". Time many launches in a row.";
}

}  // namespace

std::string_view CeilingShares::larger_name() const {
    if (larger() <= 0) return {};
    return of_bandwidth >= of_fp32 ? "copy bandwidth" : "FP32 rate";
}

CeilingShares shares_of(const KernelTiming& kernel, const Ceilings& ceilings) {
    const auto share = [](double part, double of) { return of > 0 ? part / of : 0; };
    return {share(kernel.bytes_per_second(), ceilings.bytes_per_second),
            share(kernel.flops_per_second(), ceilings.flops_per_second)};
}

std::string timing_note(const KernelTiming& kernel, const Ceilings* ceilings) {
    std::string note;
    const auto add = [&](std::string_view sentence) {
        if (!note.empty()) note += " ";
        note += sentence;
    };
    if (kernel.cold()) add("One launch so far; its time includes loading the kernel.");
    if (!ceilings || kernel.recent_ms.empty()) return note;
    const Ceilings& c = *ceilings;
    if (kernel.median_ms() < 2 * std::max(c.lone_launch_ms, c.resolution_ms)) add(short_note(c));
    const double bytes = kernel.work.bytes, rate = kernel.bytes_per_second();
    if (bytes > 0 && bytes <= double(c.cache_bytes))
        add(fmt::format("Its {} fit into the cache of {}: the rate may be that of the cache.",
                        bytes_text(bytes), bytes_text(double(c.cache_bytes))));
    else if (rate > 1.02 * c.read_bytes_per_second && rate > 1.02 * c.bytes_per_second)
        add("A higher rate than the bandwidth of memory: a part of the data comes from a cache.");
    else if (rate > c.bytes_per_second)
        add(fmt::format("Reading alone reaches {:.0f} % of the copy bandwidth.",
                        100 * c.read_bytes_per_second / c.bytes_per_second));
    return note;
}

}  // namespace warpscope::compute
