// In place of app/gl/pixel_buffer.cpp: kernels write the memory of a texture.
#include "gl/pixel_buffer.h"

#include <fmt/format.h>

#include <algorithm>

#include "gl/error.h"

namespace warpscope::gl {

struct CudaBuffer {};

PixelBuffer::PixelBuffer(compute::Device& device, int width, int height)
    : device_(device),
      width_(width),
      height_(height),
      reason_("The emulator writes the memory that the page draws.") {
    constexpr int largest = 4096;  // which nearly every WebGL 2 has
    if (width >= 1 && height >= 1 && width <= largest && height <= largest) return;
    throw Error(fmt::format("can't show a picture of {}x{}: each side must be 1 to {} pixels here",
                            width, height, largest));
}

PixelBuffer::~PixelBuffer() {
    abandon();
}

std::uint64_t PixelBuffer::map() {
    abandon();
    // The pool holds one reference to each texture. A texture that nobody else holds comes first.
    auto free = std::find_if(textures_.begin(), textures_.end(), [&](const auto& texture) {
        return texture != texture_ && texture.use_count() == 1;
    });
    if (free == textures_.end())
        free = textures_.insert(free, std::make_shared<Texture>(width_, height_));
    std::rotate(textures_.begin(), free, free + 1);
    return address_ = device_.attach(textures_.front()->memory().data(), bytes());
}

void PixelBuffer::unmap() {
    if (address_ == 0) return;
    device_.synchronize();
    device_.detach(std::exchange(address_, 0));
}

void PixelBuffer::upload() {
    texture_ = textures_.front();
}

void PixelBuffer::abandon() noexcept {
    try {
        unmap();
    } catch (const std::exception&) {
        // The caller is about to receive the first failure.
    }
}

std::string_view to_string(PixelBuffer::Path) {
    return "mapped";
}

}  // namespace warpscope::gl
