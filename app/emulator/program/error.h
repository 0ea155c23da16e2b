#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace warpscope::emulator {

// Every failure of the emulator: PTX that it can't load, a wild access, a deadlock, a spent budget.
// The text is one sentence that names kernel, source line, block and thread where they apply.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A load, store or atomic that lies outside what is allocated, or is misaligned.
class AccessError : public Error {
  public:
    AccessError(const std::string& what, std::uint32_t pc, std::uint32_t thread)
        : Error(what), pc(pc), thread(thread) {}
    std::uint32_t pc;      // index into Kernel::code
    std::uint32_t thread;  // linear index in its block
};

// A block whose threads wait for each other.
class DeadlockError : public Error {
  public:
    using Error::Error;
};

}  // namespace warpscope::emulator
