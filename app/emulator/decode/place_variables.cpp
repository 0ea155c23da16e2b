#include <fmt/format.h>

#include "emulator/decode/kernel_state.h"
#include "emulator/lower/calls.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

// A GPU gives a thread at most 512 KiB of local memory. Whether shared memory suffices depends on
// the device and is checked at the launch.
constexpr std::uint64_t most_local_bytes = 512u << 10, most_shared_bytes = 1u << 30;

void place(KernelState& state, const Variable& v) {
    const bool shared = v.space == Space::shared;
    std::uint32_t& end = shared ? state.kernel->shared_bytes : state.kernel->local_bytes;
    const std::uint64_t begin = (std::uint64_t(end) + v.align - 1) / v.align * v.align;
    const std::uint64_t most = shared ? most_shared_bytes : most_local_bytes;
    if (begin + v.bytes > most)
        throw Error(fmt::format(
            "{}: kernel {}: '{}' lies beyond the {} bytes that {} memory can have",
            state.module.name(), state.syntax.name, v.name, most, shared ? "shared" : "local"));
    state.symbols[v.name] = {v.space, begin};
    end = std::uint32_t(begin + v.bytes);
    if (shared)
        state.kernel->shared_variables.push_back(
            {v.name, std::uint32_t(begin), std::uint32_t(v.bytes)});
}

}  // namespace

void place_variables(KernelState& state) {
    Kernel& kernel = *state.kernel;
    bool has_dynamic = false;
    for (const Variable& v : state.syntax.variables) {
        has_dynamic |= v.dynamic;
        if (!v.dynamic) place(state, v);
    }
    kernel.local_bytes = (kernel.local_bytes + 15) / 16 * 16;
    const auto stack = state.symbols.find(stack_name);
    kernel.cleared_local_bytes =
        stack == state.symbols.end() ? kernel.local_bytes : std::uint32_t(stack->second.address);
    // All dynamic shared variables begin behind the static ones.
    if (has_dynamic) kernel.shared_bytes = (kernel.shared_bytes + 15) / 16 * 16;
    for (const Variable& v : state.syntax.variables)
        if (v.dynamic) {
            state.symbols[v.name] = {Space::shared, kernel.shared_bytes};
            kernel.shared_variables.push_back({v.name, kernel.shared_bytes, 0});
        }
    for (const Parameter& p : state.syntax.parameters)
        state.symbols[p.name] = {Space::param, p.offset};
}

}  // namespace warpscope::emulator
