#pragma once

#include <vector>

#include "experiments/framework/report.h"

namespace warpscope::ui {

/// The elements of `after` that are not what their edges promise: read from two elements of
/// `before`, an element should be their sum. Where it isn't, another thread's write came between.
/// One flag an element; elements with other than two edges are not judged.
std::vector<bool> wrong_sums(const experiments::Tree::Row& before,
                             const experiments::Tree::Row& after);

/// By row and element: whether its value differs from the one that the tree gives where each sum is
/// that of the right values before it. Only elements that were written by then count.
std::vector<std::vector<bool>> wrong_values(const experiments::Tree& tree);

}  // namespace warpscope::ui
