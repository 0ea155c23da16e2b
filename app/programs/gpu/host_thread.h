#pragma once

#include "programs/gpu/streams.h"

// A thread of the library that works although the host neither calls nor waits: it calls functions
// of the program that are in streams, and runs work for which the host polls memory.
namespace warpscope::programs {

/// Has the thread call a function of the program, once it has called the earlier ones. The thread
/// does not hold the mutex of the GPU meanwhile, so that others can call CUDA.
void start_host_call(WorkId id, GraphStep call);
/// Whether it has returned. To be asked until it has.
bool has_returned(WorkId id);

}  // namespace warpscope::programs
