#pragma once

#include <cstdlib>

namespace warpscope::tests {

/// `./run test long` runs the tests: what other runs sample is tested whole.
inline bool long_tests() {
    return std::getenv("WARPSCOPE_LONG_TESTS") != nullptr;
}

}  // namespace warpscope::tests
