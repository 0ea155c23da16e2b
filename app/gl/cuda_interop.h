#pragma once

#include <cstdint>
#include <memory>

namespace warpscope::gl {

/// A GL buffer object that CUDA writes in place (CUDA runtime API, "OpenGL Interoperability").
struct CudaBuffer {
    virtual ~CudaBuffer() = default;
    /// Device address of the buffer, for work queued in `stream`, a cudaStream_t. Throws
    /// compute::DeviceError, as unmap does.
    virtual std::uint64_t map(void* stream) = 0;
    virtual void unmap(void* stream) = 0;
};

/// Shares a GL buffer with a CUDA device. Throws compute::DeviceError, with CUDA's own error state
/// cleared, where the current GL context and this device can't share (GL on Mesa or on another
/// GPU gives error 304 or 999), and in a build without a CUDA toolkit.
std::unique_ptr<CudaBuffer> share_with_cuda(unsigned gl_buffer, int cuda_ordinal);

}  // namespace warpscope::gl
