#include "ui/panels/tree_sums.h"

namespace warpscope::ui {

std::vector<bool> wrong_sums(const experiments::Tree::Row& before,
                             const experiments::Tree::Row& after) {
    std::vector<float> sums(after.values.size());
    std::vector<int> terms(after.values.size());
    for (const auto& [from, to] : after.edges) {
        if (from >= before.values.size() || to >= after.values.size()) continue;
        sums[to] += before.values[from];
        ++terms[to];
    }
    std::vector<bool> wrong(after.values.size());
    for (std::size_t i = 0; i < wrong.size(); ++i)
        wrong[i] = terms[i] == 2 && sums[i] != after.values[i];
    return wrong;
}

}  // namespace warpscope::ui
