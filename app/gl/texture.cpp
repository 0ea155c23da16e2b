#include "gl/texture.h"

#include <glad/gl.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace warpscope::gl {
namespace {

// Mesa's software renderer holds a lock of all contexts while it copies a texture: 64 MB take 30
// ms, in which another thread could draw nothing. Large pictures are copied in bands, and a pause
// between two bands lets the other thread have the lock.
constexpr std::int64_t large_bytes = 8 << 20, band_bytes = 512 << 10;
constexpr std::chrono::microseconds turn(50);

int rows_of_band(int width, int height) {
    const std::int64_t row_bytes = std::int64_t(width) * 4;
    if (row_bytes * height <= large_bytes || !gl_info().software) return height;
    return int(std::max<std::int64_t>(1, band_bytes / row_bytes));
}

/// Lets later commands of this context wait for those before the fence, without stopping the
/// thread.
void wait_for(GLsync fence) {
    if (fence) glWaitSync(fence, 0, GL_TIMEOUT_IGNORED);
}

void replace(GLsync& fence) {
    if (fence) glDeleteSync(fence);
    fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();  // another context waits for the fence
}

}  // namespace

Texture::Texture(int width, int height)
    : width_(width),
      height_(height),
      band_rows_(rows_of_band(width, height)),
      id_(make_texture(width, height)) {}

Texture::~Texture() {
    if (written_) glDeleteSync(written_);
    if (drawn_) glDeleteSync(drawn_);
    glDeleteTextures(1, &id_);
}

void Texture::write(unsigned pbo) {
    const std::lock_guard lock(mutex_);
    wait_for(drawn_);
    if (drawn_) glDeleteSync(std::exchange(drawn_, nullptr));
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pbo);
    glBindTexture(GL_TEXTURE_2D, id_);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    for (int row = 0; row < height_; row += band_rows_) {
        if (row > 0) std::this_thread::sleep_for(turn);
        const auto offset = std::uintptr_t(row) * std::uintptr_t(width_) * 4;
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, row, width_, std::min(band_rows_, height_ - row),
                        GL_RGBA, GL_UNSIGNED_BYTE, reinterpret_cast<const void*>(offset));
    }
    glBindTexture(GL_TEXTURE_2D, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    replace(written_);
}

void Texture::begin_draw() const {
    const std::lock_guard lock(mutex_);
    wait_for(written_);
}

void Texture::end_draw() const {
    const std::lock_guard lock(mutex_);
    replace(drawn_);
}

std::vector<std::uint8_t> Texture::read_pixels() const {
    std::vector<std::uint8_t> pixels(std::size_t(width_) * std::size_t(height_) * 4);
    begin_draw();
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindTexture(GL_TEXTURE_2D, id_);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    glBindTexture(GL_TEXTURE_2D, 0);
    return pixels;
}

}  // namespace warpscope::gl
