#include "gl/pixel_buffer.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>

#include "compute/cuda/driver.h"
#include "gl/error.h"

namespace warpscope::gl {

/// A GL buffer object that CUDA writes in place (CUDA Driver API, "OpenGL Interoperability").
struct CudaBuffer {
    virtual ~CudaBuffer() = default;
    /// Returns the device address of the buffer for work in `stream`, a CUstream, until
    /// unmap(). Both throw compute::DeviceError.
    virtual std::uint64_t map(void* stream) = 0;
    virtual void unmap(void* stream) = 0;
};

namespace {

using compute::cuda;
using compute::cuda_check;

class RegisteredBuffer final : public CudaBuffer {
  public:
    RegisteredBuffer(unsigned gl_buffer, int ordinal) : context_(ordinal) {
        constexpr unsigned write_discard = 2;  // CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD
        cuda_check(cuda().resource_register_buffer(&resource_, gl_buffer, write_discard),
                   "sharing an OpenGL buffer");
    }
    ~RegisteredBuffer() override {
        context_.make_current();
        cuda().resource_unregister(resource_);
    }

    std::uint64_t map(void* stream) override {
        context_.make_current();
        const auto queue = static_cast<compute::CudaStream>(stream);
        cuda_check(cuda().resources_map(1, &resource_, queue), "mapping an OpenGL buffer");
        compute::CudaAddress address = 0;
        std::size_t bytes = 0;
        const compute::CudaStatus status = cuda().resource_address(&address, &bytes, resource_);
        if (status != compute::CudaStatuses::success) cuda().resources_unmap(1, &resource_, queue);
        cuda_check(status, "the address of an OpenGL buffer");
        return address;
    }

    void unmap(void* stream) override {
        cuda_check(cuda().resources_unmap(1, &resource_, static_cast<compute::CudaStream>(stream)),
                   "unmapping an OpenGL buffer");
    }

  private:
    compute::PrimaryContext context_;
    compute::CudaResource resource_ = nullptr;
};

/// Shares a GL buffer with a CUDA device. Throws compute::DeviceError if the current GL context and
/// the device can't share a buffer (error 304 or 999 if GL runs on Mesa or on another GPU).
std::unique_ptr<CudaBuffer> share_with_cuda(unsigned gl_buffer, int cuda_ordinal) {
    return std::make_unique<RegisteredBuffer>(gl_buffer, cuda_ordinal);
}

void check_picture_size(int width, int height) {
    GLint largest = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
    if (width >= 1 && height >= 1 && width <= largest && height <= largest) return;
    throw Error(fmt::format("can't show a picture of {}x{}: each side must be 1 to {} pixels here",
                            width, height, largest));
}

/// The reason why CUDA can't write buffers of this context. `cuda_words` is CUDA's error.
std::string staged_reason(const std::string& cuda_words) {
    const GlInfo gl = gl_info();
    if (gl.vendor.find("NVIDIA") == std::string::npos)
        return fmt::format(
            "OpenGL runs on {}, not on the GPU that computes: frames are copied through the host.",
            gl.renderer);
    return fmt::format(
        "CUDA and OpenGL can't share memory here ({}): frames are copied through "
        "the host.",
        cuda_words);
}

}  // namespace

PixelBuffer::PixelBuffer(compute::Device& device, int width, int height)
    : device_(device), width_(width), height_(height) {
    check_picture_size(width, height);
    make_gl_objects();
    try {
        choose_path();
    } catch (...) {
        release_gl_objects();
        throw;
    }
}

PixelBuffer::~PixelBuffer() {
    abandon();
    interop_.reset();  // CUDA must unregister the buffer before GL deletes it
    release_gl_objects();
}

void PixelBuffer::make_gl_objects() {
    glGenBuffers(1, &pbo_);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pbo_);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, GLsizeiptr(bytes()), nullptr, GL_STREAM_DRAW);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

void PixelBuffer::release_gl_objects() noexcept {
    glDeleteBuffers(1, &pbo_);
}

void PixelBuffer::choose_path() {
    if (device_.info().in_helper) {
        use_staging(
            "Edits run in a helper process, and OpenGL can't use its GPU memory: frames are copied "
            "through the host.");
        return;
    }
    if (device_.info().kind == compute::DeviceKind::emulator) {
        path_ = Path::mapped;
        reason_ = "The emulator writes OpenGL's pixel buffer itself: frames are not copied.";
        return;
    }
    try {
        interop_ = share_with_cuda(pbo_, device_.info().ordinal);
        path_ = Path::interop;
        reason_ = "CUDA writes OpenGL's pixel buffer in GPU memory: frames are not copied.";
        return;
    } catch (const compute::DeviceLost&) {
        throw;
    } catch (const compute::DeviceError& error) {
        use_staging(staged_reason(error.what()));
    }
}

void PixelBuffer::use_staging(std::string reason) {
    path_ = Path::staged;
    reason_ = std::move(reason);
    staging_ = compute::Buffer<std::uint32_t>(device_, bytes() / 4);
}

std::uint64_t PixelBuffer::map() {
    abandon();  // a failed frame may have left it mapped
    switch (path_) {
        case Path::interop:
            address_ = interop_->map(device_.native_stream());
            break;
        case Path::staged:
            address_ = staging_.pointer().address;
            break;
        case Path::mapped:
            address_ = attach_pbo();
            break;
    }
    return address_;
}

void PixelBuffer::unmap() {
    if (address_ == 0) return;
    if (path_ == Path::mapped) device_.synchronize();
    const std::uint64_t address = std::exchange(address_, 0);
    switch (path_) {
        case Path::interop:
            interop_->unmap(device_.native_stream());
            break;
        case Path::staged:
            download_into_pbo(address);
            break;
        case Path::mapped:
            device_.detach(address);
            unmap_pbo();
            break;
    }
}

void PixelBuffer::upload() {
    // The pool holds one reference to each texture.
    const auto free = std::find_if(textures_.begin(), textures_.end(), [&](const auto& texture) {
        return texture.use_count() == (texture == texture_ ? 2 : 1);
    });
    auto next = free != textures_.end()
                    ? *free
                    : textures_.emplace_back(std::make_shared<Texture>(width_, height_));
    next->write(pbo_);
    texture_ = std::move(next);
}

void* PixelBuffer::map_pbo() {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pbo_);
    void* host = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, GLsizeiptr(bytes()),
                                  GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    if (!host)
        throw Error(fmt::format("OpenGL can't map {} MiB of pixels: choose a smaller picture",
                                (bytes() >> 20) + 1));
    return host;
}

bool PixelBuffer::release_pbo() noexcept {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pbo_);
    const bool kept = glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER) == GL_TRUE;
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return kept;
}

void PixelBuffer::unmap_pbo() {
    if (release_pbo()) return;
    throw Error("OpenGL lost a frame's pixels (the display mode changed): draw the frame again");
}

std::uint64_t PixelBuffer::attach_pbo() {
    void* host = map_pbo();
    try {
        return device_.attach(host, bytes());
    } catch (...) {
        release_pbo();
        throw;
    }
}

void PixelBuffer::download_into_pbo(std::uint64_t from) {
    void* host = map_pbo();
    try {
        device_.download(host, from, bytes());
    } catch (...) {
        release_pbo();
        throw;
    }
    unmap_pbo();
}

void PixelBuffer::abandon() noexcept {
    if (address_ == 0) return;
    try {
        if (path_ == Path::mapped) device_.synchronize();
        if (path_ == Path::interop) interop_->unmap(device_.native_stream());
    } catch (const std::exception&) {
        // The caller is about to receive the first failure.
    }
    const std::uint64_t address = std::exchange(address_, 0);
    if (path_ != Path::mapped) return;
    device_.detach(address);
    release_pbo();
}

std::string_view to_string(PixelBuffer::Path path) {
    static constexpr files::Form<0> names[] = {"interop", "staged", "mapped"};
    return names[std::size_t(path)].words;
}

}  // namespace warpscope::gl
