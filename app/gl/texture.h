#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "gl/framebuffer.h"

struct __GLsync;

namespace warpscope::gl {

/// A picture in OpenGL's memory: RGBA8, row 0 is the top row, nearest filter. One thread may write
/// it while another draws it, each with its own context, where the contexts share objects: every
/// write waits for the draws before it and every draw for the write before it. Every call, the
/// destructor too, needs a current context.
class Texture {
  public:
    Texture(int width, int height);
    ~Texture();
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;

    unsigned id() const { return id_; }
    int width() const { return width_; }
    int height() const { return height_; }

    /// Copies the pixels of a pixel buffer object, width*height*4 bytes, top row first.
    void write(unsigned pbo);
    /// begin_draw() and end_draw() bracket the commands that draw the texture.
    void begin_draw() const;
    void end_draw() const;
    /// The pixels: r, g, b, a, top row first.
    std::vector<std::uint8_t> read_pixels() const;

  private:
    int width_, height_;
    int band_rows_;  ///< rows that one command copies
    unsigned id_ = 0;
    mutable std::mutex mutex_;           ///< guards the fences
    __GLsync* written_ = nullptr;        ///< null: never written
    mutable __GLsync* drawn_ = nullptr;  ///< null: not drawn since the last write
};

}  // namespace warpscope::gl
