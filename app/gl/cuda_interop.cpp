#include "gl/cuda_interop.h"

#include "compute/cuda/primary_context.h"

namespace warpscope::gl {
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

}  // namespace

std::unique_ptr<CudaBuffer> share_with_cuda(unsigned gl_buffer, int cuda_ordinal) {
    return std::make_unique<RegisteredBuffer>(gl_buffer, cuda_ordinal);
}

}  // namespace warpscope::gl
