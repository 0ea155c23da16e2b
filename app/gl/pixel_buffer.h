#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compute/device/device.h"
#include "gl/texture.h"

namespace warpscope::gl {

struct CudaBuffer;

/// Pixels that kernels of a device write and OpenGL draws: a pixel buffer object (PBO) of
/// width*height RGBA8 pixels, top row first, and textures of this size. A frame is map(), launches,
/// unmap(), upload(); write() does all four. Every call, the destructor too, needs the device and
/// the current GL context of the constructor.
class PixelBuffer {
  public:
    /// The way of the pixels from the kernels to OpenGL.
    enum class Path {
        /// Kernels write the PBO in GPU memory. A 1024x1024 frame takes about 10 us of the calling
        /// thread and 0.3 ms of the GPU, which switches from OpenGL to CUDA and back (H200).
        interop,
        staged,  ///< kernels write a buffer of the device, which is copied through the host
        mapped,  ///< the emulator writes the PBO, which is mapped into this process
    };

    /// Chooses the best path that works. Throws Error for an invalid size, DeviceError if the
    /// device is out of memory.
    PixelBuffer(compute::Device& device, int width, int height);
    ~PixelBuffer();
    PixelBuffer(const PixelBuffer&) = delete;
    PixelBuffer& operator=(const PixelBuffer&) = delete;

    /// Returns the device address of the pixels, valid until unmap(). Their contents are undefined,
    /// so kernels must write every pixel.
    std::uint64_t map();
    /// Waits until the pixels that the kernels wrote are in the PBO.
    void unmap();
    /// Copies the PBO to a texture that nobody else holds, which becomes texture().
    void upload();
    /// map(), draw(address), unmap(), upload(). If `draw` throws, the PBO is unmapped without an
    /// upload.
    template <class Draw>
    void write(Draw&& draw) {
        const Unmapper unmapper{*this};
        std::forward<Draw>(draw)(map());
        unmap();
        upload();
    }

    Path path() const { return path_; }
    /// The reason for this path, as a sentence for the user.
    const std::string& reason() const { return reason_; }
    int width() const { return width_; }
    int height() const { return height_; }
    std::size_t bytes() const { return std::size_t(width_) * std::size_t(height_) * 4; }
    /// The newest frame; null before the first. A frame that somebody holds stays as it is.
    std::shared_ptr<const Texture> texture() const { return texture_; }
    /// The pixels of the newest frame: r, g, b, a, top row first.
    std::vector<std::uint8_t> read_pixels() const { return texture_->read_pixels(); }

  private:
    struct Unmapper {
        PixelBuffer& pixels;
        ~Unmapper() { pixels.abandon(); }
    };

    void make_gl_objects();
    void release_gl_objects() noexcept;
    void choose_path();
    void use_staging(std::string reason);
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
    std::shared_ptr<Texture> texture_;
    std::vector<std::shared_ptr<Texture>>
        textures_;  ///< all textures that were made; texture_ is one of them
    std::unique_ptr<CudaBuffer> interop_;
    compute::Buffer<std::uint32_t> staging_;
    std::uint64_t address_ = 0;  ///< address of the mapped pixels; 0 if they are not mapped
};

/// "interop", "staged", "mapped"
std::string_view to_string(PixelBuffer::Path path);

}  // namespace warpscope::gl
