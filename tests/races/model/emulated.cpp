#include "emulated.h"

#include <algorithm>

#include "emulator/observe/observer_list.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"

namespace warpscope::tests::memory_model {
namespace {

// Lines of the source stand for operations.
constexpr int line_of(unsigned operation) {
    return int(operation) + 1;
}
constexpr int other_line = 1000;
constexpr unsigned operation_at(int line) {
    return unsigned(line - 1);
}

std::string at_line(int line) {
    return ".loc 1 " + std::to_string(line) + " 0\n";
}

std::string address_of_word(std::size_t word) {
    return "[%rd0+" + std::to_string(4 * word) + "]";
}

/// Notes the operations that are executed.
struct OperationLog : emulator::Observer {
    explicit OperationLog(const emulator::Kernel& kernel) : kernel(kernel) {}
    void on_instruction(std::uint32_t, const emulator::Warp&, std::uint32_t,
                        std::uint32_t pc) override {
        const emulator::InstructionInfo& info = kernel.lines[pc];
        const bool is_fence = info.order != emulator::MemoryOrder::weak;
        if (info.source.line != other_line &&
            (is_fence || info.access != emulator::MemoryAccess::none))
            operations.push_back(operation_at(info.source.line));
    }

    const emulator::Kernel& kernel;
    std::vector<unsigned> operations;
};

}  // namespace

EmulatedProgram::EmulatedProgram(const Program& program) : program_(program) {
    std::vector<std::uint32_t> warps(program.blocks.size());
    for (const unsigned block : program.blocks) {
        warp_in_block_.push_back(warps[block]++);
        blocks_ = std::max(blocks_, block + 1);
        warps_per_block_ = std::max(warps_per_block_, warps[block]);
    }
    module_ = emulator::Module::parse(ptx(), "program");
    kernel_ = module_->kernels().front().get();
}

// The warp with the number of a thread goes to its operations. In the end it stores its registers
// behind the words of the program.
std::string EmulatedProgram::ptx() const {
    const std::string registers = "<" + std::to_string(std::max(program_.registers, 1u)) + ">";
    std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_out)\n{\n"
        ".reg .pred %p;\n.reg .b32 %r" +
        registers +
        ", %lane, %warp, %block, %unused;\n"
        ".reg .b64 %rd0;\n" +
        at_line(other_line) +
        "ld.param.u64 %rd0, [k_out];\nmov.u32 %lane, %tid.x;\nmov.u32 %block, %ctaid.x;\n"
        "shr.u32 %warp, %lane, 5;\nand.b32 %lane, %lane, 31;\nsetp.ne.u32 %p, %lane, 0;\n"
        "@%p ret;\nmad.lo.u32 %warp, %block, " +
        std::to_string(warps_per_block_) + ", %warp;\n";
    for (unsigned r = 0; r < program_.registers; ++r)
        text += "mov.u32 %r" + std::to_string(r) + ", 0;\n";
    for (unsigned thread = 0; thread < program_.blocks.size(); ++thread) {
        const std::string end = "END_" + std::to_string(thread);
        text += "setp.ne.u32 %p, %warp, " + std::to_string(warp_of(thread)) + ";\n@%p bra " + end +
                ";\n";
        std::string results = at_line(other_line);
        for (unsigned a = 0; a < program_.operations.size(); ++a) {
            const Operation& o = program_.operations[a];
            if (o.thread != thread) continue;
            text += ptx_of(a);
            if (o.result >= 0)
                results += "st.global.u32 " +
                           address_of_word(program_.locations.size() + std::size_t(o.result)) +
                           ", %r" + std::to_string(o.result) + ";\n";
        }
        text += results + "ret;\n" + end + ":\n";
    }
    return text + "ret;\n}\n.file 1 \"program.cu\"\n";
}

std::string EmulatedProgram::ptx_of(unsigned operation) const {
    const std::string& text = program_.text[operation] + "\n";
    const auto& condition = program_.operations[operation].condition;
    if (!condition) return at_line(line_of(operation)) + text;
    const std::string next = "NEXT_" + std::to_string(operation);
    return at_line(line_of(operation)) + "setp.ne.u32 %p, %r" +
           std::to_string(condition->register_) + ", " + std::to_string(condition->value) +
           ";\n@%p bra " + next + ";\n" + text + next + ":\n";
}

/// The warps of the blocks, one after the other.
std::uint32_t EmulatedProgram::warp_of(unsigned thread) const {
    return program_.blocks[thread] * warps_per_block_ + warp_in_block_[thread];
}

/// The first instruction of an operation.
std::uint32_t EmulatedProgram::start_of(unsigned operation) const {
    const auto found = std::ranges::find_if(
        kernel_->lines, [&](const auto& info) { return info.source.line == line_of(operation); });
    return std::uint32_t(found - kernel_->lines.begin());
}

Emulated EmulatedProgram::run(emulator::LaunchSettings settings) const {
    const std::size_t words = program_.locations.size() + program_.registers;
    emulator::Machine machine;
    auto* memory = static_cast<std::uint32_t*>(machine.memory().allocate(words * 4));
    emulator::RaceDetector within;
    emulator::GridRaces between;
    OperationLog log(*kernel_);
    emulator::ObserverList all;
    all.add(within);
    all.add(between);
    all.add(log);
    settings.threads = 1;
    const void* arguments[] = {&memory};
    machine.run(*kernel_, {{blocks_, 1, 1}, {warps_per_block_ * 32, 1, 1}, 0}, arguments, settings,
                &all);
    Emulated run{log.operations, {memory + program_.locations.size(), memory + words}, {}};
    for (const auto& findings : {within.findings(), between.findings()})
        for (const emulator::Finding& f : findings)
            run.races.insert(std::minmax(operation_at(f.first.line), operation_at(f.second->line)));
    return run;
}

Emulated EmulatedProgram::run_in_turns(const std::vector<unsigned>& threads) const {
    std::vector<std::vector<std::uint32_t>> starts(program_.blocks.size());  // the last one first
    for (unsigned a = unsigned(program_.operations.size()); a-- > 0;)
        starts[program_.operations[a].thread].push_back(start_of(a));
    emulator::LaunchSettings settings{.schedule = emulator::Schedule::manual, .turns = {{}}};
    for (const unsigned thread : threads) {
        starts[thread].pop_back();
        settings.turns[0].push_back({warp_of(thread), starts[thread].empty()
                                                          ? emulator::ListedTurn::nowhere
                                                          : starts[thread].back()});
    }
    for (std::uint32_t block = 0; block < blocks_; ++block) settings.together.push_back(block);
    return run(settings);
}

}  // namespace warpscope::tests::memory_model
