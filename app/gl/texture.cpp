#include "gl/texture.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "gl/error.h"

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

unsigned make_texture(int width, int height) {
    unsigned id = 0;
    glGenTextures(1, &id);
    glBindTexture(GL_TEXTURE_2D, id);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    glBindTexture(GL_TEXTURE_2D, 0);
    return id;
}

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

namespace {

std::string text(GLenum name) {
    const GLubyte* value = glGetString(name);
    return value ? reinterpret_cast<const char*>(value) : "unknown";
}

bool draws_on_the_cpu(std::string_view renderer) {
    constexpr std::array<std::string_view, 4> rasterizers{"llvmpipe", "softpipe", "swrast",
                                                          "Software Rasterizer"};
    return std::any_of(rasterizers.begin(), rasterizers.end(), [&](std::string_view name) {
        return renderer.find(name) != std::string_view::npos;
    });
}

}  // namespace

GlInfo gl_info() {
    GlInfo info{text(GL_VENDOR), text(GL_RENDERER), text(GL_VERSION)};
    info.software = draws_on_the_cpu(info.renderer);
    return info;
}

namespace {

void check_framebuffer_size(int width, int height) {
    GLint largest = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
    if (width >= 1 && height >= 1 && width <= largest && height <= largest) return;
    throw Error(fmt::format("can't make a {}x{} framebuffer: each side must be 1 to {} pixels here",
                            width, height, largest));
}

}  // namespace

Framebuffer::Framebuffer(int width, int height) : width_(width), height_(height) {
    check_framebuffer_size(width, height);
    texture_ = make_texture(width, height);

    glGenFramebuffers(1, &id_);
    glBindFramebuffer(GL_FRAMEBUFFER, id_);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_, 0);
    const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    if (status == GL_FRAMEBUFFER_COMPLETE) return;
    glDeleteFramebuffers(1, &id_);
    glDeleteTextures(1, &texture_);
    throw Error(fmt::format("can't make a {}x{} framebuffer: GL status {:#x}; try a smaller size",
                            width, height, status));
}

Framebuffer::~Framebuffer() {
    glDeleteFramebuffers(1, &id_);
    glDeleteTextures(1, &texture_);
}

void Framebuffer::bind() const {
    glBindFramebuffer(GL_FRAMEBUFFER, id_);
    glViewport(0, 0, width_, height_);
}

void Framebuffer::copy_to(unsigned framebuffer, int x, int y) const {
    glBindFramebuffer(GL_READ_FRAMEBUFFER, id_);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
    glBlitFramebuffer(0, 0, width_, height_, x, y, x + width_, y + height_, GL_COLOR_BUFFER_BIT,
                      GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
}

std::vector<std::uint8_t> Framebuffer::read_pixels() const {
    bind();
    return read_framebuffer(width_, height_);
}

std::vector<std::uint8_t> read_framebuffer(int width, int height, int left, int below) {
    const std::size_t row = std::size_t(width) * 4;
    std::vector<std::uint8_t> pixels(row * std::size_t(height));
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(left, below, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    for (std::size_t top = 0, bottom = std::size_t(height) - 1; top < bottom; ++top, --bottom)
        std::swap_ranges(pixels.begin() + std::ptrdiff_t(top * row),
                         pixels.begin() + std::ptrdiff_t((top + 1) * row),
                         pixels.begin() + std::ptrdiff_t(bottom * row));
    return pixels;
}

}  // namespace warpscope::gl
