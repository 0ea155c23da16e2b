// In place of app/gl/texture.h: WebGL has no contexts that share textures, so the engine's thread
// writes memory, and the thread that draws copies it into a texture.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "gl/framebuffer.h"

namespace warpscope::gl {

class Texture {
  public:
    Texture(int width, int height);
    ~Texture();
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;

    /// Only on the thread that draws.
    unsigned id() const;
    int width() const { return width_; }
    int height() const { return height_; }

    /// The pixels of the next frame, width*height*4 bytes, top row first. Nobody draws meanwhile.
    std::vector<std::uint8_t>& memory() {
        stale_ = true;
        return pixels_;
    }
    void begin_draw() const {}
    void end_draw() const {}
    std::vector<std::uint8_t> read_pixels() const { return pixels_; }

  private:
    int width_, height_;
    std::vector<std::uint8_t> pixels_;
    mutable bool stale_ = true;
    mutable unsigned id_ = 0;  ///< 0: not made yet
};

}  // namespace warpscope::gl
