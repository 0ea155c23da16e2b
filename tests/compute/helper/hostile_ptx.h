#pragma once

#include <string_view>

namespace warpscope::tests {

/// Kernels with faults. An endless loop ends after about 20 s on a GPU, so that a failed test does
/// not block the GPU. In the emulator %clock64 counts the instructions of a warp, so the loop takes
/// hours.
inline constexpr std::string_view hostile_ptx = R"(
.version 6.4
.target sm_75
.address_size 64

// out[i] += 1
.visible .entry count(.param .u64 count_out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [count_out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd2], %r2;
    ret;
}

// Loops `rounds` times, but at most for 40e9 clocks.
.visible .entry spin(.param .u64 spin_rounds)
{
    .reg .pred %p<4>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [spin_rounds];
    mov.u64 %rd2, %clock64;
ROUND:
    setp.eq.u64 %p1, %rd1, 0;
    @%p1 bra DONE;
    sub.u64 %rd1, %rd1, 1;
    mov.u64 %rd3, %clock64;
    sub.u64 %rd3, %rd3, %rd2;
    setp.gt.u64 %p2, %rd3, 40000000000;
    @%p2 bra DONE;
    bra ROUND;
DONE:
    ret;
}

.visible .entry wild_global(.param .u64 wild_address)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [wild_address];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry wild_shared(.param .u64 wild_offset)
{
    .shared .align 4 .b8 tile[64];
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [wild_offset];
    cvt.u32.u64 %r1, %rd1;
    mov.u32 %r2, tile;
    add.u32 %r2, %r2, %r1;
    mov.u32 %r3, 7;
    st.shared.u32 [%r2], %r3;
    ret;
}

.visible .entry trapped(.param .u64 unused)
{
    trap;
    ret;
}

.visible .entry misaligned(.param .u64 misaligned_out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [misaligned_out];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1+1], %r1;
    ret;
}
)";

}  // namespace warpscope::tests
