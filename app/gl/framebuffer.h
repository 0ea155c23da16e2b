#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpscope::gl {

/// Makes a texture object of RGBA8 texels, nearest filter, clamped to its edges. Its contents are
/// undefined. The caller deletes it.
unsigned make_texture(int width, int height);

/// The OpenGL implementation of the current context.
struct GlInfo {
    std::string vendor;     ///< "NVIDIA Corporation", "Mesa"
    std::string renderer;   ///< "NVIDIA H200/PCIe/SSE2", "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string version;    ///< "3.3.0 NVIDIA 580.65"
    bool software = false;  ///< it draws on the CPU
};

/// Needs a current context.
GlInfo gl_info();

/// A framebuffer whose colour attachment is an RGBA8 texture. Row 0 is the bottom, as in all of GL:
/// to draw texture() with ImGui::Image, pass uv (0, 1) and (1, 0).
class Framebuffer {
  public:
    Framebuffer(int width, int height);
    ~Framebuffer();
    Framebuffer(const Framebuffer&) = delete;
    Framebuffer& operator=(const Framebuffer&) = delete;

    /// Makes later draws go here and sets the viewport to the whole picture.
    void bind() const;
    /// Copies the picture to (x, y) of another framebuffer, which is bound afterwards. The place is
    /// that of the lower left corner, in pixels from the lower left; 0: the window.
    void copy_to(unsigned framebuffer, int x, int y) const;
    int width() const { return width_; }
    int height() const { return height_; }
    unsigned texture() const { return texture_; }
    /// r, g, b, a, top row first. Binds this framebuffer.
    std::vector<std::uint8_t> read_pixels() const;

  private:
    int width_;
    int height_;
    unsigned texture_ = 0;
    unsigned id_ = 0;
};

/// width*height pixels of the bound framebuffer or of the window's back buffer, with that many
/// pixels on their left and below them: r, g, b, a, top row first.
std::vector<std::uint8_t> read_framebuffer(int width, int height, int left = 0, int below = 0);

}  // namespace warpscope::gl
