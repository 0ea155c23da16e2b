#pragma once

namespace warpscope::compute {

/// The helper's side of the protocol (helper_wire.h): does what comes over the socket `fd`, with
/// the memory that is shared as `fd` + 1, until the other end is closed; even while a kernel runs,
/// the process then ends. Gives the exit code: 0, 1 where it was asked for what can't be.
int serve_helper(int fd);

}  // namespace warpscope::compute
