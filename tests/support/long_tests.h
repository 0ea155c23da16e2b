#pragma once

#include <cstdlib>

namespace warpscope::tests {

/// `./run test long` runs the tests: what other runs sample is tested whole.
inline bool long_tests() {
    return std::getenv("WARPSCOPE_LONG_TESTS") != nullptr;
}

/// How many of `all` random cases a test tries: an eighth with a sanitizer, which takes ten times
/// as long.
constexpr unsigned random_cases(unsigned all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return all / 8;
#else
    return all;
#endif
}

}  // namespace warpscope::tests
