#include "gl/cuda_interop.h"

#include <cuda_gl_interop.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "compute/cuda/cuda_check.h"

namespace warpscope::gl {
namespace {

void check(cudaError_t status, const char* call) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // clears it, so that the next launch does not report it
    const auto words = fmt::format("{}: {} ({})", call, cudaGetErrorString(status), int(status));
    if (compute::cuda_is_lost(status)) throw compute::DeviceLost(words);
    throw compute::DeviceError(words);
}

class RegisteredBuffer final : public CudaBuffer {
  public:
    RegisteredBuffer(unsigned gl_buffer, int cuda_ordinal) {
        check(cudaSetDevice(cuda_ordinal), "cudaSetDevice");
        check(cudaGraphicsGLRegisterBuffer(&resource_, gl_buffer,
                                           cudaGraphicsRegisterFlagsWriteDiscard),
              "cudaGraphicsGLRegisterBuffer");
    }
    RegisteredBuffer(const RegisteredBuffer&) = delete;
    RegisteredBuffer& operator=(const RegisteredBuffer&) = delete;
    ~RegisteredBuffer() override {
        if (cudaGraphicsUnregisterResource(resource_) != cudaSuccess) cudaGetLastError();
    }

    std::uint64_t map(void* stream) override {
        const auto queue = static_cast<cudaStream_t>(stream);
        check(cudaGraphicsMapResources(1, &resource_, queue), "cudaGraphicsMapResources");
        void* pointer = nullptr;
        std::size_t bytes = 0;
        const cudaError_t status =
            cudaGraphicsResourceGetMappedPointer(&pointer, &bytes, resource_);
        if (status != cudaSuccess) cudaGraphicsUnmapResources(1, &resource_, queue);
        check(status, "cudaGraphicsResourceGetMappedPointer");
        return reinterpret_cast<std::uint64_t>(pointer);
    }

    void unmap(void* stream) override {
        check(cudaGraphicsUnmapResources(1, &resource_, static_cast<cudaStream_t>(stream)),
              "cudaGraphicsUnmapResources");
    }

  private:
    cudaGraphicsResource_t resource_ = nullptr;
};

}  // namespace

std::unique_ptr<CudaBuffer> share_with_cuda(unsigned gl_buffer, int cuda_ordinal) {
    return std::make_unique<RegisteredBuffer>(gl_buffer, cuda_ordinal);
}

}  // namespace warpscope::gl
