#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compute/device/device.h"

namespace warpscope::gl {

struct CudaBuffer;

/// Pixels that a device's kernels write and OpenGL draws: a pixel buffer object (PBO) of
/// width*height RGBA8 pixels, top row first, and its texture of the same size (row 0 is the top).
/// Needs the GL context that it was made in to be current, and its device alive, to its end.
/// A frame is map(), launches, unmap(), upload(); or write(), which does all four.
/// Another size is another PixelBuffer.
class PixelBuffer {
  public:
    /// How pixels come from the kernels to OpenGL.
    enum class Path {
        /// CUDA writes the PBO in GPU memory. A 1024x1024 frame costs the calling thread about
        /// 10 us; the GPU itself takes 0.3 ms to change from OpenGL to CUDA and back (H200).
        interop,
        staged,  ///< the device writes a buffer of its own, which is copied through the host
        mapped,  ///< the emulator writes the PBO, mapped into this process
    };

    /// Takes the best path that works. Throws Error for an illegal size, DeviceError for a device
    /// that has no memory left.
    PixelBuffer(compute::Device& device, int width, int height);
    ~PixelBuffer();
    PixelBuffer(const PixelBuffer&) = delete;
    PixelBuffer& operator=(const PixelBuffer&) = delete;

    /// The device address of the pixels, until unmap(). Their old values are lost: the kernels
    /// write every pixel and read none that they haven't written.
    std::uint64_t map();
    /// Ends the kernels' turn; what they wrote is in the PBO.
    void unmap();
    /// PBO -> texture.
    void upload();
    /// map(), draw(address), unmap(), upload(); where draw throws, unmapped without an upload.
    template <class Draw>
    void write(Draw&& draw) {
        const Unmapper unmapper{*this};
        std::forward<Draw>(draw)(map());
        unmap();
        upload();
    }

    Path path() const { return path_; }
    /// Why this path, a sentence for people.
    const std::string& reason() const { return reason_; }
    int width() const { return width_; }
    int height() const { return height_; }
    std::size_t bytes() const { return std::size_t(width_) * std::size_t(height_) * 4; }
    /// GL_TEXTURE_2D, RGBA8, nearest.
    unsigned texture() const { return texture_; }
    /// The texture's pixels as last uploaded: r, g, b, a, top row first.
    std::vector<std::uint8_t> read_pixels() const;

  private:
    struct Unmapper {
        PixelBuffer& pixels;
        ~Unmapper() { pixels.abandon(); }
    };

    void make_gl_objects();
    void release_gl_objects() noexcept;
    void choose_path();
    void stage(std::string reason);
    void* map_pbo();
    void unmap_pbo();
    bool release_pbo() noexcept;
    std::uint64_t attach_pbo();
    void download_into_pbo(std::uint64_t from);
    void abandon() noexcept;

    compute::Device& device_;
    int width_;
    int height_;
    Path path_ = Path::mapped;
    std::string reason_;
    unsigned pbo_ = 0;
    unsigned texture_ = 0;
    std::unique_ptr<CudaBuffer> interop_;
    compute::Buffer<std::uint32_t> staging_;
    std::uint64_t address_ = 0;  ///< of the mapped pixels; 0: not mapped
};

/// "interop", "staged", "mapped"
const char* to_string(PixelBuffer::Path path);

}  // namespace warpscope::gl
