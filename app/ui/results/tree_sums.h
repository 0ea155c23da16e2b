#pragma once

#include <vector>

#include "experiments/framework/report.h"

namespace warpscope::ui {

/// Returns the elements of `after` that contradict their edges. An element that was computed from
/// two elements of `before` should be their sum; if it isn't, another thread has written in
/// between. There is one flag for each element; elements with other than two edges are not judged.
std::vector<bool> wrong_sums(const experiments::Tree::Row& before,
                             const experiments::Tree::Row& after);

/// Returns by row and element whether its value differs from the one that the tree gives where each
/// sum is that of the right values before it. Only elements that were written by then count.
std::vector<std::vector<bool>> wrong_values(const experiments::Tree& tree);

}  // namespace warpscope::ui
