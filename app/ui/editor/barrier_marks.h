#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::ui {

/// A barrier in a line of CUDA C++: bytes [begin, end) are what a comment encloses to take it out.
/// Of __syncthreads() and __syncwarp() that is the call without its semicolon, so that
/// `if (ready) __syncthreads(); else …` still compiles; of __syncthreads_count() and its kin the
/// name alone, so that each thread's own argument is left as the value.
struct BarrierCall {
    std::size_t begin = 0, end = 0;
    bool out = false;  ///< it stands within a comment of its own, which the bytes include
    bool operator==(const BarrierCall&) const = default;
};

/// Those of a line, which begins within a /* comment */ or not. What stands in other comments or in
/// strings is none, nor is a call whose parentheses are closed in another line.
std::vector<BarrierCall> find_barriers(std::string_view line, bool in_comment);

/// The line with all of its barriers taken out; where all are out already, with all put back.
std::string toggle_barriers(std::string_view line, bool in_comment);

}  // namespace warpscope::ui
