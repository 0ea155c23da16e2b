#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "emulator/compiled/compiled_kernel.h"
#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {

/// Null where libLLVM is not installed.
inline const std::shared_ptr<const Llvm>& installed_llvm() {
    static const std::shared_ptr<const Llvm> found = [] {
        try {
            return Llvm::load();
        } catch (const Error&) {
            return std::shared_ptr<const Llvm>();
        }
    }();
    return found;
}

/// Everything that a launch leaves behind.
struct Outcome {
    std::vector<std::uint32_t> memory;
    Statistics statistics;
    std::string error;
    bool operator==(const Outcome& other) const {
        return memory == other.memory && error == other.error &&
               statistics.warp_instructions == other.statistics.warp_instructions &&
               statistics.thread_instructions == other.statistics.thread_instructions &&
               statistics.barriers == other.statistics.barriers;
    }
};

inline std::ostream& operator<<(std::ostream& out, const Outcome& o) {
    out << o.statistics.warp_instructions << " warp instructions, "
        << o.statistics.thread_instructions << " thread instructions, " << o.statistics.barriers
        << " barriers, error '" << o.error << "', memory";
    for (std::size_t k = 0; k < std::min<std::size_t>(40, o.memory.size()); ++k)
        out << fmt::format(" {:x}", o.memory[k]);
    return out;
}

/// One kernel in both forms, on one machine. Buffers have one address in both.
class BothForms {
  public:
    explicit BothForms(const std::string& ptx, InstructionSet set = InstructionSet::host)
        : module_(Module::parse(ptx, "test")),
          kernel_(*module_->kernels().front()),
          owner_(std::make_shared<CompiledKernel>(installed_llvm(), module_, kernel_, set)),
          compiled_(owner_, &owner_->kernel()) {}

    Outcome run(bool compiled, LaunchShape launch, Options options, std::uint32_t n) {
        Machine machine;  // fresh, so that shared memory is zero
        if (compiled) options.compiled = compiled_;
        Outcome outcome;
        std::vector<std::uint32_t> words(4096);
        for (std::size_t k = 0; k < words.size(); ++k) words[k] = std::uint32_t(k * 2654435761u);
        static std::vector<std::uint32_t> buffer(4096);
        buffer = words;
        machine.memory().attach(buffer.data(), buffer.size() * 4);
        void* out = buffer.data();
        const void* arguments[] = {&out, &n};
        outcome.error = error_of(
            [&] { outcome.statistics = machine.run(kernel_, launch, arguments, options); });
        outcome.memory = buffer;
        machine.memory().detach(buffer.data());
        return outcome;
    }

    /// Both forms agree in all schedules and barrier policies, with several seeds.
    void expect_equal(LaunchShape launch, std::uint32_t n = 0) {
        for (const Schedule schedule :
             {Schedule::random, Schedule::run_to_barrier, Schedule::reverse})
            for (const BarrierPolicy policy :
                 {BarrierPolicy::volta, BarrierPolicy::before_volta, BarrierPolicy::strict})
                for (std::uint64_t seed = 1; seed <= (schedule == Schedule::random ? 20u : 1u);
                     ++seed) {
                    Options options;
                    options.schedule = schedule;
                    options.barriers = policy;
                    options.seed = seed;
                    options.threads = 1;
                    ASSERT_EQ(run(false, launch, options, n), run(true, launch, options, n))
                        << "schedule " << int(schedule) << ", policy " << int(policy) << ", seed "
                        << seed;
                }
    }

    /// Both forms stop at one instruction, whatever the budget.
    void expect_equal_budgets(LaunchShape launch, std::uint64_t most) {
        for (std::uint64_t budget = 1; budget <= most; ++budget) {
            Options options;
            options.instruction_budget = budget;
            options.threads = 1;
            ASSERT_EQ(run(false, launch, options, 0), run(true, launch, options, 0))
                << "budget " << budget;
        }
    }

    std::shared_ptr<const Module> module_;
    const Kernel& kernel_;
    std::shared_ptr<const CompiledKernel> owner_;
    std::shared_ptr<const Kernel> compiled_;
};

}  // namespace warpscope::emulator
