#include "emulator/machine/aligned_bytes.h"

#include <fmt/format.h>

#include <cstring>

#include "emulator/program/error.h"

namespace warpscope::emulator {

AlignedBytes::AlignedBytes(std::size_t size) : size_(size) {
    if (!size) return;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(64, (size + 127) / 64 * 64)));
    if (!bytes_)
        throw Error(fmt::format("the emulator cannot allocate {} bytes for a block", size));
}

AlignedBytes::AlignedBytes(const AlignedBytes& other) : AlignedBytes(other.size_) {
    if (size_) std::memcpy(bytes_.get(), other.bytes_.get(), size_);
}

AlignedBytes& AlignedBytes::operator=(const AlignedBytes& other) {
    if (this == &other) return *this;
    if (size_ != other.size_) {
        AlignedBytes fresh(other.size_);
        std::swap(bytes_, fresh.bytes_);
        size_ = other.size_;
    }
    if (size_) std::memcpy(bytes_.get(), other.bytes_.get(), size_);
    return *this;
}

}  // namespace warpscope::emulator
