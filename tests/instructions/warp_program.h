#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "instructions/form.h"
#include "support/devices.h"

namespace warpscope::tests {

using compute::Buffer;
using compute::DevicePointer;
using Word32 = std::uint32_t;
constexpr unsigned lanes = 32;

/// Instructions of one warp. Before them each lane has its words of the input in %i0, %i1 and so
/// on, of `bits` bits; behind them it stores %o0, %o1 and so on. 1 KiB of shared memory is at
/// `cells`.
struct WarpProgram {
    std::string ptx;
    unsigned inputs = 1, outputs = 1;
    int capability = 75;
    unsigned bits = 32;
};

inline std::string text_of(const WarpProgram& p) {
    const unsigned bytes = p.bits / 8;
    std::string text = fmt::format(
        ".version 8.0\n.target sm_{}\n.address_size 64\n"
        ".visible .entry run(.param .u64 in, .param .u64 out) {{\n"
        ".shared .align 16 .b8 cells[1024];\n"
        ".reg .b{}  %i<{}>, %o<{}>;\n"
        ".reg .pred %p;\n.reg .b16 %h<4>;\n.reg .b32 %lane, %base, %r<8>;\n.reg .b64 %in, %out;\n"
        "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
        "cvta.to.global.u64 %in, %in;\ncvta.to.global.u64 %out, %out;\n"
        "mov.u32 %lane, %tid.x;\nmov.u32 %base, cells;\n"
        "mad.wide.u32 %in, %lane, {}, %in;\nmad.wide.u32 %out, %lane, {}, %out;\n",
        p.capability, p.bits, p.inputs + 1, p.outputs + 1, bytes * p.inputs, bytes * p.outputs);
    for (unsigned k = 0; k < p.inputs; ++k)
        text += fmt::format("ld.global.b{} %i{}, [%in+{}];\n", p.bits, k, k * bytes);
    text += p.ptx + "\n";
    for (unsigned k = 0; k < p.outputs; ++k)
        text += fmt::format("st.global.b{} [%out+{}], %o{};\n", p.bits, k * bytes, k);
    return text + "ret;\n}\n";
}

/// What each lane has stored: the words of lane 0, those of lane 1 and so on.
template <class T>
std::vector<T> run(compute::Device& device, const WarpProgram& p, const std::vector<T>& inputs) {
    const Buffer<T> in(device, inputs);
    Buffer<T> out(device, lanes * p.outputs);
    out.fill(0);
    const auto kernel =
        device.kernel_from_ptx<DevicePointer<T>, DevicePointer<T>>(text_of(p), "run");
    device.launch(kernel, {{1, 1, 1}, {lanes, 1, 1}}, {}, in.pointer(), out.pointer());
    return out.download();
}

/// "{%i4, %i5}": registers from `first` on.
inline std::string registers(char letter, unsigned first, unsigned count) {
    std::string list;
    for (unsigned k = 0; k < count; ++k)
        list += fmt::format("{}%{}{}", k ? ", " : "", letter, first + k);
    return "{" + list + "}";
}

inline std::vector<Word32> random_words(unsigned count) {
    std::mt19937 random(count);
    std::vector<Word32> words(count);
    for (Word32& w : words) w = Word32(random());
    return words;
}

}  // namespace warpscope::tests
