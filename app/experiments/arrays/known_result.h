#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/arrays/array.h"

namespace warpscope::experiments {

/// A buffer that people see, such as pixels or sums, and what the kernel should leave in it.
struct KnownResult {
    std::string name;           ///< "pixel": an element is "pixel[41, 35]"
    std::uint64_t address = 0;  ///< on the device
    ElementType type;
    std::vector<std::size_t> shape;
    double absolute = 0, relative = 0;  ///< tolerances: see out_of_tolerance()
    bool is_picture = false;            ///< of colours r, g, b, a
    /// What it should hold; null: nobody knows. May launch other kernels, which do not change the
    /// buffer.
    std::function<Array()> right;
    /// `right` is what a program's launch has left: the result of one order of its threads, which
    /// is wrong where that launch has raced.
    bool is_captured = false;
};

}  // namespace warpscope::experiments
