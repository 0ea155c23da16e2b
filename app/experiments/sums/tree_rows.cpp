#include "experiments/sums/tree_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace warpscope::experiments {

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

}  // namespace warpscope::experiments
