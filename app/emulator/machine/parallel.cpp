#include "emulator/machine/parallel.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

// Debian's oneTBB is not built for ThreadSanitizer, which would then report false races.
#if defined(__SANITIZE_THREAD__)
#define WARPSCOPE_STD_THREAD 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WARPSCOPE_STD_THREAD 1
#endif
#endif

#ifndef WARPSCOPE_STD_THREAD
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#endif

namespace warpscope::emulator {

void run_parallel(unsigned count, const std::function<void(unsigned)>& body) {
    if (count == 1) return body(0);
#ifdef WARPSCOPE_STD_THREAD
    std::vector<std::jthread> threads;
    for (unsigned k = 0; k < count; ++k) threads.emplace_back(body, k);
#else
    tbb::parallel_for(0u, count, body, tbb::simple_partitioner());
#endif
}

unsigned hardware_threads() {
    cpu_set_t allowed;
    const bool known = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
    return std::max(1U,
                    known ? unsigned(CPU_COUNT(&allowed)) : std::thread::hardware_concurrency());
}

}  // namespace warpscope::emulator
