#pragma once

namespace warpscope::programs {

/// Ends the emulated GPU of this process, and writes the report, once. Returns the exit status of
/// the program, which would have ended with `status`.
int finish(int status);

}  // namespace warpscope::programs
