#include "compute/ceiling_shares.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpscope::compute {
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
