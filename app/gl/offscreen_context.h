#pragma once

#include <optional>
#include <string>

namespace warpscope::gl {

/// An OpenGL 3.3 core context without window or display, through EGL; current on the calling
/// thread as long as it lives. It has no framebuffer of its own: draw into a Framebuffer.
class OffscreenContext {
  public:
    /// With a CUDA ordinal, GL runs on that GPU if the driver's EGL offers it, and else on
    /// whatever EGL has (other GPUs, then Mesa's software). Throws Error where nothing works.
    explicit OffscreenContext(std::optional<int> cuda_ordinal = std::nullopt);
    ~OffscreenContext();
    OffscreenContext(const OffscreenContext&) = delete;
    OffscreenContext& operator=(const OffscreenContext&) = delete;

    void make_current();
    /// Where it runs: "EGL device 0 (CUDA device 0)", "Mesa surfaceless".
    const std::string& where() const { return where_; }

  private:
    void* display_ = nullptr;
    void* context_ = nullptr;
    std::string where_;
};

}  // namespace warpscope::gl
