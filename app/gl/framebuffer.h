#pragma once

#include <cstdint>
#include <vector>

namespace warpscope::gl {

/// An RGBA8 picture to draw into, as a texture. As everywhere in GL its row 0 is the bottom: to
/// show texture() with ImGui::Image, give uv (0, 1) and (1, 0).
class Framebuffer {
  public:
    Framebuffer(int width, int height);
    ~Framebuffer();
    Framebuffer(const Framebuffer&) = delete;
    Framebuffer& operator=(const Framebuffer&) = delete;

    /// Draws go here from now on; sets the viewport to all of it.
    void bind() const;
    int width() const { return width_; }
    int height() const { return height_; }
    unsigned texture() const { return texture_; }
    /// r, g, b, a, top row first. Leaves this framebuffer bound.
    std::vector<std::uint8_t> read_pixels() const;

  private:
    int width_;
    int height_;
    unsigned texture_ = 0;
    unsigned id_ = 0;
};

/// The bound framebuffer's (or window's back buffer's) lower left width*height pixels:
/// r, g, b, a, top row first.
std::vector<std::uint8_t> read_framebuffer(int width, int height);

}  // namespace warpscope::gl
