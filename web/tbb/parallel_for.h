// In place of oneTBB: the threads of the emulator.
#pragma once
#include <algorithm>

#include "emulator/machine/parallel.h"

namespace tbb {

template <class Index, class Body>
void parallel_for(Index begin, Index end, const Body& body) {
    const Index threads = warpscope::emulator::hardware_threads(), count = end - begin;
    warpscope::emulator::run_parallel(unsigned(threads), [&](unsigned k) {
        for (Index i = begin + count * k / threads; i < begin + count * (k + 1) / threads; ++i)
            body(i);
    });
}

}  // namespace tbb
