#pragma once

#include <memory>
#include <string>

#include "experiments/launch/launch.h"
#include "experiments/launch/launch_plan.h"
#include "support/add_kernel.h"

namespace warpscope::tests {

/// __global__ void waits(float* y), for 64 threads a block: y[i] is the thread's index in its
/// block. With "deadlock" as its source, the two warps of block 2 wait at two barriers for each
/// other; with "outside" each thread writes one element further.
inline std::string waits_ptx(const std::string& source) {
    const std::string apart = R"(
    setp.ne.u32 %p1, %r1, 2;
    @%p1 bra TOGETHER;
    setp.lt.u32 %p2, %r2, 32;
    @%p2 bra LOW;
    bar.sync 1, 64;
    bra TOGETHER;
LOW:
    bar.sync 2, 64;
)";
    return R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry waits(.param .u64 y)
{
    .reg .pred %p<3>;
    .reg .f32 %f<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
)" + (source == "deadlock" ? apart : "") +
           R"(
TOGETHER:
    bar.sync 0;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r1, %r3, %r2;
    ld.param.u64 %rd1, [y];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd2, %rd3;
    cvt.rn.f32.u32 %f1, %r2;
    st.global.f32 [%rd4)" +
           (source == "outside" ? "+4" : "") + R"(], %f1;
    ret;
}
)";
}

/// The experiment of a launch file with two launches of waits() on 4 blocks. Its sources are those
/// that waits_ptx() knows; no compiler is needed.
inline experiments::SharedEntry waits_entry() {
    Signature signature;
    signature.name = signature.entry = "waits";
    signature.parameters = {{"y", pointer_to(f32)}};
    const auto plan = std::make_shared<const experiments::LaunchPlan>(
        experiments::plan_launch(launches::parse_launch_file(R"({
            "source": "waits.cu", "scalars": {"blocks": 4},
            "buffers": {"y": {"shape": "64 * blocks"}},
            "launches": [{"kernel": "waits", "grid": "blocks", "block": 64},
                         {"kernel": "waits", "grid": "blocks", "block": 64}]})"),
                                 {signature}));
    experiments::Entry entry = *experiments::launch_entry(plan);
    entry.compile = [](compute::Helpers&, const std::string& source, compute::Math math,
                       const std::stop_token&) {
        return experiments::CompiledEntry{waits_entry(),
                                          std::make_shared<const compute::KernelEdit>(
                                              compute::KernelEdit{.file = "launch/waits",
                                                                  .source = source,
                                                                  .math = math,
                                                                  .ptx = waits_ptx(source),
                                                                  .warnings = {}})};
    };
    return std::make_shared<const experiments::Entry>(std::move(entry));
}

}  // namespace warpscope::tests
