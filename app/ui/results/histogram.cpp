#include "ui/results/histogram.h"

#include <algorithm>

namespace warpscope::ui {

std::vector<unsigned> histogram(std::span<const double> values, std::size_t bins) {
    std::vector<unsigned> counts(std::max<std::size_t>(1, bins));
    if (values.empty()) return counts;
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    const double width = (*greatest - *least) / double(counts.size());
    for (const double value : values) {
        const std::size_t bin = width > 0 ? std::size_t((value - *least) / width) : 0;
        ++counts[std::min(bin, counts.size() - 1)];
    }
    return counts;
}

}  // namespace warpscope::ui
