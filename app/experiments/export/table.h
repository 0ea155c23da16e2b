#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compute/ceilings.h"
#include "compute/device/kernel_files.h"
#include "compute/device/kernel_timings.h"
#include "compute/device/occupancy.h"
#include "emulator/counters/kernel_counters.h"
#include "emulator/counters/kernel_heat.h"
#include "emulator/observe/findings.h"
#include "experiments/framework/report.h"
#include "experiments/measure/kernel_figures.h"

namespace warpscope::experiments {

/// A text or a number.
using Cell = std::variant<std::string, double>;

/// A table that leaves the app: by the clipboard or in a page.
struct Table {
    files::Sentence title;
    std::vector<std::string> columns;
    std::vector<std::vector<Cell>> rows;
};

Table results_table(const Report& report);
Table findings_table(const std::vector<emulator::Finding>& findings);
/// The counters of a block: those of a launch, divided by the number of blocks.
Table counters_table(const std::vector<emulator::KernelCounters>& kernels);
/// The lines of a kernel, that with the highest figure first. `text_of`: the text of a line.
Table lines_table(
    const emulator::KernelCounters& kernel, LineFigure first,
    const std::function<std::string_view(const std::string& file, int line)>& text_of);
/// The accesses to the words of each array. A row stands for neighbouring words with equal counts.
Table heat_table(const emulator::KernelHeat& kernel, const compute::KernelEdits& edits);
Table timings_table(const std::vector<compute::KernelTiming>& kernels);
/// The blocks and warps of an SM at one time, and the blocks that each of its resources has room
/// for; an empty text where that is unknown. `of_device`: the compute capability of the device.
Table occupancy_table(const std::vector<compute::KernelTiming>& kernels,
                      const compute::OccupancyWish& wish, int of_device);
/// Rates, and their shares of what the device can reach. A rate that is not counted is an empty
/// text.
Table roofline_table(const std::vector<compute::KernelTiming>& kernels,
                     const compute::Ceilings& ceilings);
Table comparison_table(const Comparison& comparison);

/// The number with as many digits as it takes to read it back.
std::string text_of(const Cell& cell);
/// A field of a CSV file, in quotes where it needs them (RFC 4180).
std::string csv_field(std::string_view text);
std::string to_csv(const Table& table);
/// A list of objects; a number stays one.
std::string to_json(const Table& table);
std::string to_markdown(const Table& table);

/// A line for each finding, as compilers write them: "ripple.cu:54: error: …".
std::string finding_lines(const std::vector<emulator::Finding>& findings);

}  // namespace warpscope::experiments
