#include "ui/results/tree_sums.h"

namespace warpscope::ui {

namespace {

/// The sums of the two elements that are read for each element. `terms`: how many are read.
std::vector<float> sums_of(const std::vector<float>& before, const experiments::Tree::Row& after,
                           std::vector<int>& terms) {
    std::vector<float> sums(after.values.size());
    terms.assign(after.values.size(), 0);
    for (const auto& [from, to] : after.edges) {
        if (from >= before.size() || to >= after.values.size()) continue;
        sums[to] += before[from];
        ++terms[to];
    }
    return sums;
}

}  // namespace

std::vector<bool> wrong_sums(const experiments::Tree::Row& before,
                             const experiments::Tree::Row& after) {
    std::vector<int> terms;
    const std::vector<float> sums = sums_of(before.values, after, terms);
    std::vector<bool> wrong(after.values.size());
    for (std::size_t i = 0; i < wrong.size(); ++i)
        wrong[i] = terms[i] == 2 && sums[i] != after.values[i];
    return wrong;
}

std::vector<std::vector<bool>> wrong_values(const experiments::Tree& tree) {
    std::vector<std::vector<bool>> wrong;
    std::vector<float> right;
    for (const experiments::Tree::Row& row : tree.rows) {
        std::vector<int> terms;
        const std::vector<float> sums = sums_of(right, row, terms);
        std::vector<bool>& here = wrong.emplace_back(row.values.size());
        right.resize(row.values.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
            const bool written = i < row.active.size() && row.active[i];
            if (!written) continue;
            // The right value is known for a sum of two elements only; any other value counts as
            // right.
            right[i] = terms[i] == 2 ? sums[i] : row.values[i];
            here[i] = right[i] != row.values[i];
        }
    }
    return wrong;
}

}  // namespace warpscope::ui
