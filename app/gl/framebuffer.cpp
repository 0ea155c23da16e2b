#include "gl/framebuffer.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "gl/error.h"

namespace warpscope::gl {

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
