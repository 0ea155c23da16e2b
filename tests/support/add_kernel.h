#pragma once

#include <memory>
#include <string>

#include "compiler/signature.h"
#include "compute/device/kernel_files.h"

namespace warpscope::tests {

using compiler::Signature;
using compiler::Type;

/// __global__ void add(int n, float a, const float* x, float* y): y[i] += a * x[i] for i < n.
inline constexpr const char* add_ptx = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry add(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.s32 %rd5, %r5, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}
)";

/// __constant__ float factors[4]; __device__ unsigned calls; in a namespace lib.
/// __global__ void scale(float* y): y[i] *= factors[i % 4], and counts the calls. For one block.
inline constexpr const char* scale_ptx = R"(
.version 6.4
.target sm_75
.address_size 64
.const .align 4 .b8 _ZN3lib7factorsE[16];
.global .align 4 .u32 _ZN3lib5callsE;
.visible .entry scale(.param .u64 y)
{
    .reg .f32 %f<4>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %tid.x;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    and.b32 %r2, %r1, 3;
    mul.wide.u32 %rd5, %r2, 4;
    mov.u64 %rd6, _ZN3lib7factorsE;
    add.s64 %rd7, %rd6, %rd5;
    ld.const.f32 %f1, [%rd7];
    ld.global.f32 %f2, [%rd4];
    mul.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%rd4], %f3;
    mov.u64 %rd8, _ZN3lib5callsE;
    atom.global.add.u32 %r3, [%rd8], 1;
    ret;
}
)";

inline std::shared_ptr<const Type> scalar(Type::Kind kind, const char* name, std::size_t bytes) {
    auto type = std::make_shared<Type>();
    type->kind = kind;
    type->name = name;
    type->bytes = bytes;
    return type;
}

inline std::shared_ptr<const Type> array_of(std::shared_ptr<const Type> element,
                                            std::size_t count) {
    auto type = std::make_shared<Type>();
    type->kind = Type::Kind::array;
    type->bytes = count * element->bytes;
    type->count = count;
    type->target = std::move(element);
    return type;
}

using compiler::pointer_to;

inline const auto f32 = scalar(Type::Kind::floating, "float", 4);
inline const auto i32 = scalar(Type::Kind::signed_integer, "int", 4);
inline const auto u32 = scalar(Type::Kind::unsigned_integer, "unsigned int", 4);

inline Signature add_signature() {
    Signature signature;
    signature.name = signature.entry = "add";
    signature.parameters = {{"n", i32}, {"a", f32}, {"x", pointer_to(f32)}, {"y", pointer_to(f32)}};
    return signature;
}

/// The launch file with `more` fields at its end.
inline std::string file_text(const std::string& more = "", const std::string& launch = "") {
    return R"({"source": "add.cu", "scalars": {"n": 1000, "a": 2.0},
               "buffers": {"x": {"shape": "n", "fill": "i"}, "y": {"shape": "n", "fill": 1}},
               "launches": [{"kernel": "add", "grid": "(n + 255) / 256", "block": 256)" +
           launch + "}]" + more + "}";
}

/// The kernels of a source that says `source`.
inline std::shared_ptr<const compute::KernelEdit> add_kernels(
    const std::string& source, compute::Math math = compute::Math::precise) {
    return std::make_shared<const compute::KernelEdit>(compute::KernelEdit{
        .file = "launch/add", .source = source, .math = math, .ptx = add_ptx, .warnings = {}});
}

}  // namespace warpscope::tests
