#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace warpscope::tests {

/// Writes a random CUDA kernel `random_kernel(unsigned* pixels, unsigned* totals)`: every thread
/// computes with numbers of its own, exchanges some with other threads, and stores a hash of all
/// its variables as its pixel; totals[16] are global sums. Results do not depend on what CUDA
/// leaves open (payloads of NaN, fused multiplications), so that all devices draw one picture.
/// With `depends_on_order` they depend on the order of threads: by races, and by results of
/// atomics.
std::string random_cuda(std::uint64_t seed, bool depends_on_order);

}  // namespace warpscope::tests
