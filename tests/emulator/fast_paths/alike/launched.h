#pragma once

#include <memory>
#include <string>

#include "emulator/fast_paths/alike/warp_independence.h"
#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {

// %r4 is the address of cell[tid], %r5 that of cell[63 - tid].
inline constexpr const char* addresses =
    "mov.u32 %r2, cell;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r4, %r2, %r3;\n"
    "mov.u32 %r5, 63;\nsub.u32 %r5, %r5, %r1;\nshl.b32 %r5, %r5, 2;\nadd.u32 %r5, %r2, %r5;\n";
// %rd2 is the address of out[ctaid * ntid + tid].
inline constexpr const char* own_word =
    "mov.u32 %r30, %ctaid.x;\nmov.u32 %r31, %ntid.x;\nmad.lo.u32 %r8, %r30, %r31, %r1;\n"
    "mul.wide.u32 %rd10, %r8, 4;\nadd.u64 %rd2, %rd0, %rd10;\n";
inline constexpr LaunchShape four_blocks{{4, 1, 1}, {64, 1, 1}, 0};

/// A kernel with `addresses` and `own_word` before its body, and its launch.
class Launched {
  public:
    explicit Launched(const std::string& body, LaunchShape shape = four_blocks)
        : module_(Module::parse(kernel_text(addresses + (own_word + body), shared_words), "test")),
          shape_(shape) {}

    const Kernel& kernel() const { return *module_->kernels().front(); }
    FrozenLaunch with(std::uint32_t n, std::uint64_t out = 0x10000) const {
        const void* arguments[] = {&out, &n};
        return Machine::freeze(kernel(), shape_, arguments, {});
    }
    std::string obstacle(std::uint32_t n = 0) const {
        return obstacles_to_independence(with(n), Memory()).warps;
    }
    std::string obstacle_of_blocks(std::uint32_t n = 0) const {
        return obstacles_to_independence(with(n), Memory()).blocks;
    }

  private:
    std::shared_ptr<const Module> module_;
    LaunchShape shape_;
};

}  // namespace warpscope::emulator
