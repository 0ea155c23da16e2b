#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

namespace warpscope::emulator {

/// A fixed number of bytes that begin on a cache line, uninitialised at first. Assigning a copy of
/// equal size keeps the address.
class AlignedBytes {
  public:
    AlignedBytes() = default;
    explicit AlignedBytes(std::size_t size);  ///< throws Error when out of memory
    AlignedBytes(const AlignedBytes& other);
    AlignedBytes(AlignedBytes&& other) noexcept
        : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
    AlignedBytes& operator=(const AlignedBytes& other);
    AlignedBytes& operator=(AlignedBytes&& other) noexcept {
        bytes_ = std::move(other.bytes_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }
    ~AlignedBytes() = default;

    std::byte* data() const { return bytes_.get(); }
    std::size_t size() const { return size_; }

  private:
    struct Free {
        void operator()(std::byte* bytes) const { std::free(bytes); }
    };
    std::unique_ptr<std::byte[], Free> bytes_;
    std::size_t size_ = 0;
};

}  // namespace warpscope::emulator
