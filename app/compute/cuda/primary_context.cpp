#include "compute/cuda/primary_context.h"

#include <fmt/format.h>

namespace warpscope::compute {

PrimaryContext::PrimaryContext(int ordinal) {
    cuda_check(cuda().device_get(&device_, ordinal), fmt::format("using GPU {}", ordinal));
    cuda_check(cuda().primary_context_retain(&context_, device_),
               fmt::format("using GPU {}", ordinal));
    make_current();
}

}  // namespace warpscope::compute
