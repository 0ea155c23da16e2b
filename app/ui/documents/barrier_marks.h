#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::ui {

/// A barrier in a line of CUDA C++. Bytes [begin, end) are those that a comment encloses when the
/// barrier is commented out: for __syncthreads() and __syncwarp() the call without its semicolon,
/// so that `if (ready) __syncthreads(); else …` still compiles; for __syncthreads_count(),
/// __syncthreads_and() and __syncthreads_or() the name alone, so that the value of the expression
/// is each thread's own argument.
struct BarrierCall {
    std::size_t begin = 0, end = 0;
    bool out = false;  ///< it is commented out; the bytes include the comment's marks
    bool operator==(const BarrierCall&) const = default;
};

/// The barriers of one line, as its mark in the gutter shows them.
/// `off`: it stands in the source, and the kernel that runs was compiled without it.
enum class BarrierState { in, out, mixed, off };
struct BarrierLine {
    int line = 0;  ///< from 1
    BarrierState state = BarrierState::in;
    bool operator==(const BarrierLine&) const = default;
};

/// The barriers of a line. `in_comment`: the line begins within a /* comment */. Barriers within a
/// longer comment or a string do not count, nor do calls that go on in the next line.
std::vector<BarrierCall> find_barriers(std::string_view line, bool in_comment);

/// NAME where the source ends with `if (NAME)`; else empty.
std::string_view condition_before(std::string_view source);

/// The line with all of its barriers commented out; where all of them are already, with all of them
/// restored.
std::string toggle_barriers(std::string_view line, bool in_comment);

}  // namespace warpscope::ui
