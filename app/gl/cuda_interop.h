#pragma once

#include <cstdint>
#include <memory>

namespace warpscope::gl {

/// A GL buffer object that CUDA writes in place (CUDA Driver API, "OpenGL Interoperability").
struct CudaBuffer {
    virtual ~CudaBuffer() = default;
    /// Returns the device address of the buffer for work in `stream`, a CUstream, until
    /// unmap(). Both throw compute::DeviceError.
    virtual std::uint64_t map(void* stream) = 0;
    virtual void unmap(void* stream) = 0;
};

/// Shares a GL buffer with a CUDA device. Throws compute::DeviceError if the current GL context and
/// the device can't share a buffer (error 304 or 999 if GL runs on Mesa or on another GPU).
std::unique_ptr<CudaBuffer> share_with_cuda(unsigned gl_buffer, int cuda_ordinal);

}  // namespace warpscope::gl
