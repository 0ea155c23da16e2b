#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/machine/machine.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

// A kernel `k(.param .u64 out, .param .u32 n)` around a body; registers %p0-9, %r0-39, %f0-19,
// %rd0-19, %fd0-9 and %h0-9 (16 bits) are declared, %rd0 holds out, %r0 holds n, %r1 %tid.x and
// %rd1 the address of out[tid].
inline std::string kernel_text(const std::string& body, const std::string& before = "") {
    return ".version 9.0\n.target sm_75\n.address_size 64\n" + before +
           "\n.visible .entry k(.param .u64 k_out, .param .u32 k_n)\n{\n"
           ".reg .pred %p<10>;\n.reg .b32 %r<40>;\n.reg .f32 %f<20>;\n.reg .b64 %rd<20>;\n"
           ".reg .f64 %fd<10>;\n.reg .b16 %h<10>;\n"
           "ld.param.u64 %rd0, [k_out];\nld.param.u32 %r0, [k_n];\nmov.u32 %r1, %tid.x;\n"
           "mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd1, %rd0, %rd1;\n" +
           body + "\nret;\n}\n";
}

// Runs such a kernel and returns the `count` words of `out`, which start as zero.
class Runner {
  public:
    explicit Runner(const std::string& ptx) : module(Module::parse(ptx, "test")) {}

    std::vector<uint32_t> run(LaunchShape launch, uint32_t n = 0, size_t count = 0) {
        if (count == 0) count = size_t(launch.grid.count() * launch.block.count());
        void* out = machine.memory().allocate(count * 4);
        const void* arguments[] = {&out, &n};
        try {
            statistics = machine.run(
                Machine::freeze(*module->kernels().front(), launch, arguments, settings), observer,
                method);
        } catch (...) {
            machine.memory().free(out);
            throw;
        }
        const auto* words = static_cast<const uint32_t*>(out);
        std::vector<uint32_t> result(words, words + count);
        machine.memory().free(out);
        return result;
    }

    std::shared_ptr<const Module> module;
    Machine machine;
    LaunchSettings settings;
    LaunchMethod method;
    Observer* observer = nullptr;
    Statistics statistics;
};

/// 256 words of shared memory.
inline constexpr const char* shared_words = ".shared .align 4 .b8 cell[1024];";

inline LaunchShape one_block(uint32_t threads, uint32_t dynamic_shared_bytes = 0) {
    return {{1, 1, 1}, {threads, 1, 1}, dynamic_shared_bytes};
}

// The text of the Error that `action` throws; empty when it throws none.
template <typename F>
std::string error_of(F&& action) {
    try {
        action();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

// The text of the Error that loading throws; empty when it throws none.
inline std::string load_error(const std::string& ptx) {
    return error_of([&] { Module::parse(ptx, "broken.ptx"); });
}

inline void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace warpscope::emulator
