#pragma once

namespace warpscope::jobs {

/// A helper process of the app, in which kernels are compiled or run: serves the socket `fd` until
/// its other end is closed (compute/helper_server.h), and gives the exit code. Throws UsageError
/// where that is no socket: people have no use for it.
int run_helper(int fd);

}  // namespace warpscope::jobs
