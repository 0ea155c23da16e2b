#pragma once

namespace warpscope::jobs {

/// Runs as a helper process: serves the socket `fd` until its other end is closed, and returns the
/// exit code. Throws UsageError if `fd` is not a socket: only the app starts helper processes.
int run_helper(int fd);

}  // namespace warpscope::jobs
