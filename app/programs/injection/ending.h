#pragma once

namespace warpscope::programs {

/// Ends the emulated GPU of this process and writes its report, once. Returns the exit status of a
/// program that ends with `status`.
int finish(int status);

}  // namespace warpscope::programs
