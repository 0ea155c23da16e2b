#pragma once

#include <cstdint>

struct cudaGraphicsResource;

namespace warpscope::gl {

/// A GL buffer object that CUDA writes in place (CUDA runtime API, "OpenGL Interoperability").
/// Only in builds with a CUDA toolkit.
class CudaBuffer {
  public:
    /// Throws Error, with CUDA's own error cleared, where the GL context and this CUDA device
    /// can't share a buffer: GL on Mesa or on another GPU gives 304 or 999.
    CudaBuffer(unsigned gl_buffer, int cuda_ordinal);
    ~CudaBuffer();
    CudaBuffer(const CudaBuffer&) = delete;
    CudaBuffer& operator=(const CudaBuffer&) = delete;

    /// Device address of the buffer, for work queued in `stream`, a cudaStream_t.
    std::uint64_t map(void* stream);
    void unmap(void* stream);

  private:
    cudaGraphicsResource* resource_ = nullptr;
};

}  // namespace warpscope::gl
