#include "emulated.h"

#include <algorithm>

#include "emulator/observe/observer_list.h"
#include "emulator/program/error.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/schedule_file.h"

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

constexpr std::size_t most_words = 8;

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

// The warp with the number of a thread goes to its operations, behind the first barrier. In the end
// it stores its registers.
std::string EmulatedProgram::ptx() const {
    std::string text = start_of_ptx();
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
                results += "st.global.u32 [%out+" + std::to_string(4 * o.result) + "], %r" +
                           std::to_string(o.result) + ";\n";
        }
        text += results + "ret;\n" + end + ":\n";
    }
    return text + "ret;\n}\n.file 1 \"program.cu\"\n";
}

std::string EmulatedProgram::start_of_ptx() const {
    const bool is_shared = program_.space == ".shared";
    std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n.shared .align 4 .b8 cell[32];\n"
        ".visible .entry k(.param .u64 k_out)\n{\n.reg .pred %p;\n.reg .b32 %r<16>, %lane, %warp, "
        "%block, %unused;\n.reg .b64 %words, %out;\n" +
        at_line(other_line) +
        "ld.param.u64 %words, [k_out];\nadd.s64 %out, %words, 32;\nmov.u32 %lane, %tid.x;\n"
        "mov.u32 %block, %ctaid.x;\nshr.u32 %warp, %lane, 5;\n";
    if (is_shared) {
        text += "mov.u64 %words, cell;\nsetp.ne.u32 %p, %lane, 0;\n";
        for (std::size_t word = 0; word < most_words; ++word)
            text += "@!%p st.shared.u32 [%words+" + std::to_string(4 * word) + "], 0;\n";
        text += "bar.sync 0;\n";
    }
    for (unsigned r = 0; r < program_.registers; ++r)
        text += "mov.u32 %r" + std::to_string(r) + ", 0;\n";
    return text +
           "and.b32 %lane, %lane, 31;\nsetp.ne.u32 %p, %lane, 0;\n@%p ret;\n"
           "mad.lo.u32 %warp, %block, " +
           std::to_string(warps_per_block_) + ", %warp;\n";
}

std::string EmulatedProgram::ptx_of(unsigned operation) const {
    const Operation& o = program_.operations[operation];
    const std::string name = std::to_string(operation), loop = "LOOP_" + name,
                      next = "NEXT_" + name;
    const auto unless = [](int reg, std::uint32_t value, const std::string& label) {
        return "setp.ne.u32 %p, %r" + std::to_string(reg) + ", " + std::to_string(value) +
               ";\n@%p bra " + label + ";\n";
    };
    std::string text = at_line(line_of(operation));
    if (o.condition) text += unless(o.condition->register_, o.condition->value, next);
    if (o.awaited) text += loop + ":\n";
    text += program_.text[operation] + "\n";
    if (o.awaited) text += unless(o.result, *o.awaited, loop);
    return text + next + ":\n";
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
    emulator::Machine machine;
    auto* memory = static_cast<std::uint32_t*>(machine.memory().allocate(4 * 3 * most_words));
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
    std::uint32_t* const registers = memory + most_words;
    Emulated run{log.operations, {registers, registers + program_.registers}, {}};
    for (const auto& findings : {within.findings(), between.findings()})
        for (const emulator::Finding& f : findings)
            if (f.kind == emulator::FindingKind::race)
                run.races.insert(
                    std::minmax(operation_at(f.first.line), operation_at(f.second->line)));
    return run;
}

std::optional<std::vector<std::uint32_t>> EmulatedProgram::run_with_old_values(
    const Race& race) const {
    emulator::Machine machine;
    auto* memory = static_cast<std::uint32_t*>(machine.memory().allocate(4 * 3 * most_words));
    const void* arguments[] = {&memory};
    const emulator::LaunchShape shape{{blocks_, 1, 1}, {warps_per_block_ * 32, 1, 1}, 0};
    const emulator::FrozenLaunch launch = machine.freeze(*kernel_, shape, arguments, {});
    const auto place = [&](unsigned a) { return users_place(*kernel_, start_of(a)); };
    emulator::OrderSearch search{.preemptions = 1, .time = std::chrono::hours(1)};
    search.pairs = {{place(race.first), place(race.second)}};
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t block = 0; block < blocks_; ++block) blocks.push_back(block);
    const auto found = blocks_ == 1 ? search.run(machine, launch, 0)
                                    : search.run_together(machine, launch, blocks);
    const auto& witness = found.witnesses[0];
    if (!witness || !witness->old_read) return {};
    emulator::LaunchSettings settings{
        .schedule = emulator::Schedule::manual, .turns = witness->turns, .keeps_old_values = true};
    if (blocks_ > 1) settings.together = blocks;
    const Emulated run = this->run(settings);
    return run.registers;
}

std::optional<Emulated> EmulatedProgram::run_in_turns(const std::vector<unsigned>& threads) const {
    std::vector<std::vector<unsigned>> left(program_.blocks.size());  // the last one first
    for (unsigned a = unsigned(program_.operations.size()); a-- > 0;)
        left[program_.operations[a].thread].push_back(a);
    emulator::LaunchSettings settings{.schedule = emulator::Schedule::manual, .turns = {{}}};
    settings.instruction_budget = 1000;  // for threads that wait in vain
    for (const unsigned thread : threads) {
        const unsigned a = left[thread].back();
        left[thread].pop_back();
        emulator::ListedTurn turn{warp_of(thread)};
        if (program_.operations[a].waits())
            turn.until = start_of(a), turn.after = 1;
        else if (!left[thread].empty())
            turn.until = start_of(left[thread].back());
        settings.turns[0].push_back(turn);
    }
    for (std::uint32_t block = 0; block < blocks_; ++block) settings.together.push_back(block);
    try {
        return run(settings);
    } catch (const emulator::Error&) {
        return {};
    }
}

}  // namespace warpscope::tests::memory_model
