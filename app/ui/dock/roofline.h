#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/ceilings.h"
#include "ui/widgets/box.h"

namespace warpscope::ui {

/// A logarithmic axis, its ends as powers of ten.
struct LogAxis {
    double low = 0, high = 1;
    /// 0 to 1 along the axis; a value that isn't positive is at the low end.
    double at(double value) const;
    double value(double at) const;
    /// The whole powers of ten on it, at most `most` of them.
    std::vector<double> ticks(int most) const;
};

/// A power of ten as a tick says it: "0.1", "10", "100 G".
std::string tick_words(double power_of_ten);

/// Where a kernel stands: flops against the bytes that it has to move, each byte once. Without
/// flops it only has bytes a second.
struct RooflinePoint {
    const compute::KernelTiming* kernel = nullptr;
    double intensity = 0;  ///< flops a byte
    double flops_per_second = 0;
    double bytes_per_second = 0;
};

/// The roofline model: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual
/// performance model for multicore architectures", CACM 52(4), 2009.
struct Roofline {
    double bytes_ceiling = 0, flops_ceiling = 0;  ///< a second
    std::vector<RooflinePoint> points;            ///< with flops and bytes
    std::vector<RooflinePoint> strip;             ///< with bytes alone
    std::vector<std::string> left_out;            ///< kernels whose bytes are not counted
    LogAxis intensity, flops, bytes;

    /// What a kernel of this intensity can do at most, flops a second.
    double roof(double flops_a_byte) const;
    /// The intensity from which on arithmetic is the limit.
    double ridge() const;
};

/// `kernels` outlive it. Its axes hold the ridge and every point with room around them.
Roofline roofline_of(std::span<const compute::KernelTiming> kernels,
                     const compute::Ceilings& ceilings);

/// "20 480 flop/B at 43 Tflop/s …": what a point says when the mouse rests on it.
std::string roofline_words(const compute::KernelTiming& kernel, const compute::Ceilings& ceilings);

/// Boxes of these sizes beside points of `radius` in `area`: right, left, above or below, the first
/// that meets no point and no box of `taken` or of an earlier label; none where all do.
std::vector<std::optional<Box>> place_labels(std::span<const Box> points,
                                             std::span<const Box> sizes, const Box& area,
                                             std::vector<Box> taken, float gap);

}  // namespace warpscope::ui
