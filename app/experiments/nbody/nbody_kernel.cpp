#include "experiments/nbody/nbody_kernel.h"

#include <algorithm>

namespace warpscope::experiments {
namespace {

/// With fewer bodies than this, a step is too short for three blocks on each multiprocessor.
constexpr std::size_t few_bodies = 8192;
/// With a smaller share, the start and end of a block cost more than the row saves.
constexpr unsigned least_share = 64;
constexpr std::size_t most_bytes = std::size_t(128) << 20;  ///< of stored forces
constexpr std::size_t most_room = std::size_t(1) << 30;     ///< that rows take on several ranks

constexpr std::size_t row_bytes(std::size_t n) {
    return n * 4 * sizeof(float);
}

template <class Int>
Int ceil_divide(Int a, Int b) {
    return (a + b - 1) / b;
}

/// Rows that make whole waves of `resident` blocks. Time is counted in bodies that pull: what a
/// wave takes for each, 2 for a block's beginning and end, and moved / 65536 for a row's forces,
/// which are stored and read again.
unsigned best_rows(NBodyPartition partition, std::size_t n, std::size_t moved, unsigned resident,
                   unsigned most) {
    unsigned best = 1;
    double best_time = 0;
    for (partition.rows = 1; partition.rows <= most; ++partition.rows) {
        const unsigned waves =
            ceil_divide(partition.columns_of(moved) * partition.rows_of(n), resident);
        const double time =
            waves * (partition.share_of(n) + 2.0) + partition.rows * (double(moved) / 65536);
        if (partition.rows > 1 && time >= best_time) continue;
        best = partition.rows;
        best_time = time;
    }
    return best;
}

}  // namespace

unsigned NBodyPartition::columns_of(std::size_t moved) const {
    return unsigned(ceil_divide(moved, std::size_t(bodies) * threads));
}

int NBodyPartition::share_of(std::size_t n) const {
    const std::size_t unrolled = bodies == 4 ? 2 : 16;
    return int(ceil_divide(ceil_divide(n, std::size_t(rows)), unrolled) * unrolled);
}

unsigned NBodyPartition::rows_of(std::size_t n) const {
    return unsigned(ceil_divide(n, std::size_t(share_of(n))));
}

std::size_t NBodyPartition::partial_bytes(std::size_t n) const {
    return rows_of(n) * row_bytes(n);
}

NBodyPartition NBodyPartition::best(const compute::DeviceInfo& device, std::size_t n,
                                    std::size_t moved) {
    NBodyPartition partition;
    moved = std::max<std::size_t>(moved, 1);
    if (moved < few_bodies) partition.bodies = 2;
    const auto worthwhile = unsigned(ceil_divide(n, std::size_t(least_share)));
    // The rows are as long as for all bodies; only the part of the moved ones is used.
    const std::size_t fit_moved = most_bytes / row_bytes(moved);
    const std::size_t fit_all = (moved < n ? most_room : most_bytes) / row_bytes(n);
    const auto fit = unsigned(std::max<std::size_t>(std::min(fit_moved, fit_all), 1));
    const unsigned most = std::min({most_rows, worthwhile, fit});
    const auto multiprocessors = unsigned(std::max(device.multiprocessors, 1));
    if (device.kind == compute::DeviceKind::emulator)
        partition.rows = std::min(2U, most);
    else if (partition.bodies == 2)
        partition.rows = std::clamp(multiprocessors / partition.columns_of(moved), 1U, most);
    else
        partition.rows =
            best_rows(partition, n, moved, multiprocessors * NBodyPartition::resident_blocks, most);
    return partition;
}

std::size_t NBodyPartition::most_partial_bytes(std::size_t n) {
    return std::max(std::min(most_rows * row_bytes(n), most_bytes), row_bytes(n));
}

}  // namespace warpscope::experiments
