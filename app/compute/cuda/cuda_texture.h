#pragma once

#include <cstdint>

#include "compute/cuda/driver.h"
#include "emulator/warp/textures.h"

namespace warpscope::compute {

/// A texture or a surface of a buffer on a GPU. The hardware filters arrays in a layout of its own,
/// so the object reads an array that load() copies from the buffer. A texture of one dimension
/// that kernels read by index (Texture::read_by_index), or that is too long for an array, reads the
/// buffer itself. The functions throw DeviceError.
class CudaTexture {
  public:
    CudaTexture(const emulator::Texture& texture, bool is_surface);
    CudaTexture(const CudaTexture&) = delete;
    CudaTexture& operator=(const CudaTexture&) = delete;
    ~CudaTexture();

    /// What kernels get.
    std::uint64_t handle() const { return handle_; }
    void load(CudaStream stream) const;   ///< the buffer into the array
    void store(CudaStream stream) const;  ///< the array into the buffer

  private:
    void make_array();
    void make_object();
    void copy(CudaStream stream, bool to_array) const;
    void destroy() noexcept;

    const emulator::Texture texture_;
    const bool is_surface_;
    CudaArray array_ = nullptr;
    std::uint64_t handle_ = 0;
};

}  // namespace warpscope::compute
