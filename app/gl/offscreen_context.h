#pragma once

#include <optional>
#include <string>

namespace warpscope::gl {

/// An OpenGL 3.3 core context without a window or display, through EGL. It is current on the
/// calling thread until it is destroyed. It has no default framebuffer: draw into a Framebuffer.
class OffscreenContext {
  public:
    /// Prefers the GPU with this CUDA ordinal, then other GPUs, then Mesa's software renderer.
    /// Throws Error if EGL offers none of them.
    explicit OffscreenContext(std::optional<int> cuda_ordinal = std::nullopt);
    /// A context that shares the objects of `other`, for another thread: it is current on no thread
    /// until make_current(). Throws Error.
    explicit OffscreenContext(const OffscreenContext& other);
    ~OffscreenContext();
    OffscreenContext& operator=(const OffscreenContext&) = delete;

    void make_current();
    /// The calling thread has no current context any more.
    void release_current();
    /// The EGL display that it uses: "EGL device 0 (CUDA device 0)", "Mesa surfaceless".
    const std::string& where() const { return where_; }

  private:
    void* display_ = nullptr;
    void* context_ = nullptr;
    std::string where_;
};

}  // namespace warpscope::gl
