#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "files/sentence.h"

namespace warpscope::emulator {

/// Every failure of the emulator: PTX that it cannot load, an access outside all allocations, a
/// deadlock, an exhausted budget. The text is one sentence. It names the kernel, source line, block
/// and thread where they apply.
class Error : public files::SentenceError {
  public:
    /// A thread, and where it is.
    struct Place {
        std::uint32_t pc = 0;      ///< index into Kernel::code
        std::uint32_t thread = 0;  ///< linear index in its block
    };
    using SentenceError::SentenceError;
    Error(files::Sentence words, Place place) : SentenceError(std::move(words)), place(place) {}
    Place place;  ///< the beginning of the kernel where no thread has failed
    /// The block that failed, by linear index; set by Machine::run().
    std::optional<std::uint32_t> block;
};

/// A load, store or atomic that is outside all allocations, or misaligned.
class AccessError : public Error {
  public:
    AccessError(const std::string& what, std::uint32_t pc, std::uint32_t thread,
                std::uint64_t allocation = 0)
        : Error(what, {pc, thread}), allocation(allocation) {}
    /// Beginning of the allocation that the global address is next to; 0: none.
    std::uint64_t allocation;
};

/// An access to global memory that is outside all allocations.
class GlobalAccessError : public AccessError {
  public:
    GlobalAccessError(const AccessError& error, std::uint64_t address)
        : AccessError(error), address(address) {}
    std::uint64_t address;
};

/// The address of an access is no multiple of its width: a status of its own in CUDA.
class MisalignedError : public AccessError {
  public:
    using AccessError::AccessError;
};

/// The launch's stop was requested.
class Stopped : public Error {
  public:
    using Error::Error;
};

/// The launch has reached its time limit, which says nothing of what it would have done.
class TimedOut : public Error {
  public:
    using Error::Error;
};

/// The threads of a block wait for each other for ever. The place is that of a warp-wide
/// instruction if there is one, else that of a barrier.
class DeadlockError : public Error {
  public:
    using Error::Error;
};

/// The threads of a block do for ever what they do now: they wait for a word that nobody changes.
class StillError : public Error {
  public:
    using Error::Error;
};

/// assert() of a kernel failed.
class AssertionError : public Error {
  public:
    explicit AssertionError(const Error& error) : Error(error) {}
};

}  // namespace warpscope::emulator
