#include "emulator/witness/delays.h"

#include <fmt/format.h>

#include <map>

#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {

namespace {

/// PTX that sets %delay_at to the linear index of the thread in its block, or of its block in the
/// grid: x + (y + z·height)·width.
std::string linear_index(std::string_view index, std::string_view size) {
    return fmt::format(
        "mov.u32 %delay_at, %{0}.z; mov.u32 %delay_n, %{1}.y; mov.u32 %delay_i, %{0}.y; "
        "mad.lo.u32 %delay_at, %delay_at, %delay_n, %delay_i; mov.u32 %delay_n, %{1}.x; "
        "mov.u32 %delay_i, %{0}.x; mad.lo.u32 %delay_at, %delay_at, %delay_n, %delay_i; ",
        index, size);
}

/// One line of PTX in which the threads that are meant wait. Its names are known only in it.
std::string wait(const Delay& delay) {
    std::string text =
        "{ .reg .pred %delay_p; .reg .b32 %delay_at, %delay_n, %delay_i; "
        ".reg .b64 %delay_from, %delay_to; ";
    constexpr std::string_view leave_others =
        "setp.ne.u32 %delay_p, %delay_at, {}; @%delay_p bra delay_end; ";
    if (delay.warp)
        text += linear_index("tid", "ntid") + "shr.u32 %delay_at, %delay_at, 5; " +
                fmt::format(leave_others, *delay.warp);
    if (delay.block)
        text += linear_index("ctaid", "nctaid") + fmt::format(leave_others, *delay.block);
    return text + fmt::format(
                      "mov.u64 %delay_from, %clock64; delay_loop: mov.u64 %delay_to, %clock64; "
                      "sub.u64 %delay_to, %delay_to, %delay_from; "
                      "setp.lt.u64 %delay_p, %delay_to, {}; @%delay_p bra delay_loop; "
                      "delay_end: }} ",
                      delay.clocks);
}

}  // namespace

std::string ptx_with(const Delay& delay, const Kernel& kernel) {
    std::map<int, const InstructionInfo*> statements;  // by the line of the PTX
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
        const InstructionInfo& info = kernel.lines[pc];
        if (info.access != MemoryAccess::none && users_place(kernel, pc) == delay.place)
            statements.emplace(info.source.ptx_line, &info);
    }
    std::string text = kernel.module->text();
    const std::string inserted = wait(delay);
    for (auto it = statements.rbegin(); it != statements.rend(); ++it) {
        const std::size_t begin = statement_begin(text, *it->second);
        if (begin != text.npos) text.insert(begin, inserted);
    }
    return text;
}

}  // namespace warpscope::emulator
