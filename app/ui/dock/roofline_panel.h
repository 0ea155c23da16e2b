#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/ceilings.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// A logarithmic axis. `low` and `high` are the exponents of ten at its ends.
struct LogAxis {
    double low = 0, high = 1;
    /// Returns the place of a value, 0 to 1 along the axis; a value of 0 or less is at the low end.
    double at(double value) const;
    double value(double at) const;
    /// Returns the whole powers of ten on the axis, at most `most` of them.
    std::vector<double> ticks(int most) const;
};

/// The label of a tick at a power of ten: "0.1", "10", "100 G".
std::string tick_words(double power_of_ten);

/// A kernel in the chart: its flops against the bytes that it has to move, each byte once. A kernel
/// whose flops are not counted has bytes per second only.
struct RooflinePoint {
    const compute::KernelTiming* kernel = nullptr;
    double intensity = 0;  ///< flops per byte
    double flops_per_second = 0;
    double bytes_per_second = 0;
};

/// The roofline model: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual
/// performance model for multicore architectures", CACM 52(4), 2009.
struct Roofline {
    double bytes_ceiling = 0, flops_ceiling = 0;  ///< per second
    std::vector<RooflinePoint> points;            ///< kernels with flops and bytes
    std::vector<RooflinePoint> strip;             ///< kernels with bytes alone
    std::vector<std::string> left_out;            ///< kernels whose bytes are not counted
    LogAxis intensity, flops, bytes;

    /// The most flops per second that a kernel of this intensity can reach.
    double roof(double flops_a_byte) const;
    /// The intensity above which arithmetic is the limit, flops per byte.
    double ridge() const;
};

/// Makes the chart, whose axes hold the ridge and every point. `kernels` outlive it.
Roofline roofline_of(std::span<const compute::KernelTiming> kernels,
                     const compute::Ceilings& ceilings);

/// Returns the tooltip of a point: its rates, their shares of the ceilings, and remarks.
std::string roofline_words(const compute::KernelTiming& kernel, const compute::Ceilings& ceilings);

/// Returns a place within `area` for each point's label of the given size: right, left, above or
/// below the point, the first place that overlaps no point, no box of `taken` and no earlier label;
/// nullopt if each place overlaps something. `gap` is the distance to the point.
std::vector<std::optional<Box>> place_labels(std::span<const Box> points,
                                             std::span<const Box> sizes, const Box& area,
                                             std::vector<Box> taken, float gap);

/// Every kernel as a point under the ceilings of the device: the roofline chart.
class RooflinePanel {
  public:
    explicit RooflinePanel(Stage& stage) : stage_(stage) {}

    void draw(Ui& ui);

  private:
    Stage& stage_;
};

}  // namespace warpscope::ui
