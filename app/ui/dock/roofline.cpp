#include "ui/dock/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/ceiling_shares.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"

namespace warpscope::ui {
namespace {

using compute::Ceilings;
using compute::KernelTiming;

/// The range of the values added so far, as exponents of ten.
struct AxisRange {
    double low = 0, high = 0;
    bool any = false;
    void add(double value) {
        if (!(value > 0) || !std::isfinite(value)) return;
        const double power = std::log10(value);
        low = any ? std::min(low, power) : power;
        high = any ? std::max(high, power) : power;
        any = true;
    }
    /// Returns the axis with this much room at its ends, in powers of ten.
    LogAxis axis(double below, double above) const { return {low - below, high + above}; }
    /// Returns the axis with a sixth of it free above, for the name of the highest line.
    LogAxis axis_under_name(double below) const {
        return axis(below, std::max(0.25, (high - low + below) / 5));
    }
};

/// The literature counts 20 flops for an interaction of the n-body. The kernels' shortest inner
/// loop issues 13 FP32 instructions an interaction: 6 FFMA and 7 others.
constexpr double slots_an_interaction = 13;

bool overlap(const Box& a, const Box& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
           b.y < a.y + a.height;
}

bool within(const Box& box, const Box& area) {
    return box.x >= area.x && box.y >= area.y && box.x + box.width <= area.x + area.width &&
           box.y + box.height <= area.y + area.height;
}

}  // namespace

double LogAxis::at(double value) const {
    if (!(value > 0) || high <= low) return 0;
    return (std::log10(value) - low) / (high - low);
}

double LogAxis::value(double at) const {
    return std::pow(10.0, low + at * (high - low));
}

std::vector<double> LogAxis::ticks(int most) const {
    const int first = int(std::ceil(low - 1e-9)), last = int(std::floor(high + 1e-9));
    const int step = std::max(1, (last - first + most) / std::max(1, most));
    std::vector<double> values;
    for (int power = first; power <= last; ++power)
        // Ticks at multiples of the step stay in place while the axis grows.
        if (power % step == 0) values.push_back(std::pow(10.0, power));
    return values;
}

std::string tick_words(double power_of_ten) {
    constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P"};
    const int power = int(std::lround(std::log10(power_of_ten)));
    if (power < 0) return fmt::format("{:.{}f}", power_of_ten, -power);
    const int prefix = std::min(power / 3, int(std::size(prefixes)) - 1);
    return "1" + std::string(std::size_t(power - 3 * prefix), '0') + prefixes[prefix];
}

double Roofline::roof(double flops_a_byte) const {
    return std::min(flops_ceiling, flops_a_byte * bytes_ceiling);
}

double Roofline::ridge() const {
    return bytes_ceiling > 0 ? flops_ceiling / bytes_ceiling : 0;
}

Roofline roofline_of(std::span<const KernelTiming> kernels, const Ceilings& ceilings) {
    Roofline line;
    line.bytes_ceiling = ceilings.bytes_per_second;
    line.flops_ceiling = ceilings.flops_per_second;
    AxisRange intensity, flops, bytes;
    intensity.add(line.ridge());
    flops.add(line.flops_ceiling);
    bytes.add(line.bytes_ceiling);
    for (const KernelTiming& kernel : kernels) {
        RooflinePoint point{&kernel, 0, kernel.flops_per_second(), kernel.bytes_per_second()};
        if (point.bytes_per_second <= 0) {
            line.left_out.push_back(kernel.name);
        } else if (point.flops_per_second <= 0) {
            line.strip.push_back(point);
            bytes.add(point.bytes_per_second);
        } else {
            point.intensity = kernel.work.flops / kernel.work.bytes;
            line.points.push_back(point);
            intensity.add(point.intensity);
            flops.add(point.flops_per_second);
        }
    }
    line.intensity = intensity.axis(1.2, 1.2);
    flops.add(line.roof(line.intensity.value(0)));
    line.flops = flops.axis_under_name(0.3);
    line.bytes = bytes.axis_under_name(0.8);
    return line;
}

std::string roofline_words(const KernelTiming& kernel, const Ceilings& ceilings) {
    const compute::CeilingShares shares = compute::shares_of(kernel, ceilings);
    std::string text = kernel.name;
    const double flops = kernel.flops_per_second(), bytes = kernel.bytes_per_second();
    if (flops > 0)
        text +=
            tr("\n{}, {:.3g} % of the FP32 rate", quantity(flops, "flop/s"), 100 * shares.of_fp32);
    if (bytes > 0)
        text += tr("\n{}, {:.3g} % of the copy bandwidth", quantity(bytes, "B/s"),
                   100 * shares.of_bandwidth);
    if (flops > 0 && bytes > 0)
        text += tr("\n{} flops per byte that has to move",
                   compact(kernel.work.flops / kernel.work.bytes));
    if (flops <= 0) text += tr("\nIts flops are not counted.");
    const double interactions = kernel.interactions_per_second();
    if (interactions > 0 && flops > 0 && ceilings.flops_per_second > 0) {
        const double slots = interactions * slots_an_interaction * 2 / ceilings.flops_per_second;
        text +=
            tr("\nAn interaction counts as {:.0f} flops by convention and takes at least {:.0f} "
               "instructions: {:.3g} % of the instructions at the ceiling.",
               kernel.work.flops / kernel.work.interactions, slots_an_interaction, 100 * slots);
    }
    const std::string note = compute::timing_note(kernel, &ceilings);
    return note.empty() ? text : text + "\n" + note;
}

std::vector<std::optional<Box>> place_labels(std::span<const Box> points,
                                             std::span<const Box> sizes, const Box& area,
                                             std::vector<Box> taken, float gap) {
    taken.insert(taken.end(), points.begin(), points.end());
    std::vector<std::optional<Box>> labels(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Box& p = points[i];
        const float w = sizes[i].width, h = sizes[i].height;
        const float middle_y = p.y + p.height / 2 - h / 2;
        const float middle_x =
            std::max(area.x, std::min(p.x + p.width / 2 - w / 2, area.x + area.width - w));
        const Box candidates[] = {
            {p.x + p.width + gap, middle_y, w, h}, {p.x - gap - w, middle_y, w, h},
            {middle_x, p.y - gap - h, w, h},       {middle_x, p.y + p.height + gap, w, h},
            {p.x + p.width + gap, p.y - h, w, h},  {p.x + p.width + gap, p.y + p.height, w, h},
            {p.x - gap - w, p.y - h, w, h},        {p.x - gap - w, p.y + p.height, w, h}};
        for (const Box& box : candidates) {
            const auto meets = [&](const Box& other) { return overlap(box, other); };
            if (!within(box, area) || std::any_of(taken.begin(), taken.end(), meets)) continue;
            labels[i] = box;
            taken.push_back(box);
            break;
        }
    }
    return labels;
}

}  // namespace warpscope::ui
