#pragma once

#include <optional>

namespace warpscope::jobs {

/// Serves a client of the Debug Adapter Protocol on standard input and output, or one after the
/// other at a port of the loopback address (0: any that is free, which standard error tells).
/// Returns the exit code when the client has disconnected or a signal has come. Throws UsageError
/// for a port that cannot be had.
int run_debugger(std::optional<unsigned> port);

}  // namespace warpscope::jobs
