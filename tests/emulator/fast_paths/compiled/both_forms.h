#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "emulator/counters/access_counters.h"
#include "emulator/counters/heat_map.h"
#include "emulator/fast_paths/alike/alike_events.h"
#include "emulator/fast_paths/alike/told_observers.h"
#include "emulator/fast_paths/alike/warp_independence.h"
#include "emulator/fast_paths/compiled/compiled_kernel.h"
#include "emulator/ptx_fixture.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"

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

/// Skipped where libLLVM is not installed.
class LlvmTest : public testing::Test {
  protected:
    void SetUp() override {
        if (!installed_llvm()) GTEST_SKIP() << "libLLVM is not installed";
    }
};

/// Everything that a launch leaves behind.
struct Outcome {
    std::vector<std::uint32_t> memory;
    Statistics statistics;
    std::string error;
    std::vector<std::uint64_t> events{};  ///< of an observed launch
    std::string findings{};               ///< of the race detector, and the counters
    bool operator==(const Outcome& other) const {
        return memory == other.memory && error == other.error && events == other.events &&
               findings == other.findings &&
               statistics.warp_instructions == other.statistics.warp_instructions &&
               statistics.thread_instructions == other.statistics.thread_instructions &&
               statistics.barriers == other.statistics.barriers;
    }
};

inline std::ostream& operator<<(std::ostream& out, const Outcome& o) {
    out << o.statistics.warp_instructions << " warp instructions, "
        << o.statistics.thread_instructions << " thread instructions, " << o.statistics.barriers
        << " barriers, error '" << o.error << "', " << o.events.size()
        << " numbers of events, findings '" << o.findings << "', memory";
    for (std::size_t k = 0; k < std::min<std::size_t>(40, o.memory.size()); ++k)
        out << fmt::format(" {:x}", o.memory[k]);
    return out;
}

/// Writes down each event that compiled code can report.
class EventRecorder : public Observer {
  public:
    bool wants_instructions(const Kernel&) const override { return false; }
    void on_block_begin(const Kernel&, std::uint32_t block) override { add({1, block}); }
    void on_block_end(std::uint32_t block, const Statistics& s) override {
        add({2, block, s.warp_instructions, s.thread_instructions, s.barriers});
    }
    void on_shared_access(const Access& access) override { add_access(3, access); }
    void on_global_access(const Access& access) override { add_access(4, access); }
    void on_barrier_arrival(const BarrierArrival& a) override {
        add({5, a.warp, a.mask, a.live, a.pc, a.barrier, a.expected, a.waits});
    }
    void on_barrier_release(const BarrierRelease& r) override {
        add({6, r.barrier, r.completed_barriers, r.live_threads});
    }
    void on_warp_sync(std::uint32_t, std::uint32_t warp, std::uint32_t members) override {
        add({7, warp, members});
    }
    void on_fence(std::uint32_t, std::uint32_t warp, std::uint32_t mask, Fence) override {
        add({8, warp, mask});
    }
    std::vector<std::uint64_t> events;

  private:
    void add(std::initializer_list<std::uint64_t> numbers) { events.insert(events.end(), numbers); }
    void add_access(std::uint64_t number, const Access& a) {
        add({number, a.block, a.warp, a.mask, a.bytes, std::uint64_t(a.kind), a.pc,
             a.same_address});
        for (std::uint32_t lanes = a.mask; lanes; lanes &= lanes - 1) {
            const auto lane = unsigned(std::countr_zero(lanes));
            add({a.address(lane)});
            std::uint64_t stored[2] = {};
            if (a.kind == MemoryAccess::store) a.stored(lane, reinterpret_cast<std::byte*>(stored));
            add({stored[0], stored[1]});
        }
    }
};

inline std::string text_of(const std::vector<Finding>& findings, const AccessCounters& counters,
                           const HeatMap& heat) {
    std::string text;
    for (const Finding& f : findings) text += fmt::format("{} {}\n", f.count, f.sentence);
    for (const KernelCounters& k : counters.kernels()) {
        for (const MemoryCounts& c : {k.global_loads, k.global_stores, k.global_atomics,
                                      k.shared_loads, k.shared_stores, k.shared_atomics})
            text += fmt::format("{} {} {} {} {} {}\n", c.requests, c.bytes, c.sectors, c.wavefronts,
                                c.least_wavefronts, c.degree);
        ExecutedWork sum;
        for (const LineCounters& line : k.lines) {
            sum += line;
            text += fmt::format("{}:{} {} {} {} {} {}\n", line.file, line.line,
                                line.warp_instructions, line.thread_instructions, line.separations,
                                line.global().sectors, line.shared().wavefronts);
        }
        EXPECT_EQ(sum.warp_instructions, k.warp_instructions);
        EXPECT_EQ(sum.thread_instructions, k.thread_instructions);
    }
    for (const KernelHeat& k : heat.kernels())
        for (const HeatArray& array : k.arrays)
            for (std::uint64_t word = 0; word < array.words(); ++word)
                for (const WordCounts& counts : array.counts)
                    text += fmt::format("{} ", counts.at(word));
    return text;
}

/// One kernel in both forms, on one machine. Buffers have one address in both.
class BothForms {
  public:
    explicit BothForms(const std::string& ptx, InstructionSet set = InstructionSet::host,
                       ForSomeLanes for_some_lanes = ForSomeLanes::at_once)
        : module_(Module::parse(ptx, "test")),
          kernel_(*module_->kernels().front()),
          set_(set),
          for_some_lanes_(for_some_lanes),
          owner_(std::make_shared<CompiledKernel>(installed_llvm(), module_, kernel_,
                                                  CompiledForm::silent, set, for_some_lanes)),
          compiled_(owner_, &owner_->kernel()) {}

    Outcome run(bool compiled, LaunchShape launch, const LaunchSettings& settings, std::uint32_t n,
                Observer* observer = nullptr) {
        Machine machine;  // fresh, so that shared memory is zero
        LaunchMethod method;
        if (compiled) method.code = observer ? with_reports() : compiled_;
        Outcome outcome;
        std::vector<std::uint32_t> words(4096);
        for (std::size_t k = 0; k < words.size(); ++k) words[k] = std::uint32_t(k * 2654435761u);
        static std::vector<std::uint32_t> buffer(4096);
        buffer = words;
        machine.memory().attach(buffer.data(), buffer.size() * 4);
        void* out = buffer.data();
        const void* arguments[] = {&out, &n};
        const FrozenLaunch frozen = Machine::freeze(kernel_, launch, arguments, settings);
        // In some launches that are observed.
        const bool independent = observer && settings.seed == 2 &&
                                 obstacles_to_independence(frozen, machine.memory()).warps.empty();
        if (independent && settings.schedule == Schedule::random &&
            !observer->wants_instructions(kernel_))
            method.schedule = Schedule::run_to_barrier;
        if (observer) method.make_events = alike_events(kernel_, independent);
        outcome.error =
            error_of([&] { outcome.statistics = machine.run(frozen, observer, method); });
        outcome.memory = buffer;
        machine.memory().detach(buffer.data());
        return outcome;
    }

    /// With the events that an observer sees, and the findings and counts of the checks.
    Outcome observe(bool compiled, LaunchShape launch, const LaunchSettings& settings,
                    std::uint32_t n) {
        EventRecorder recorder;
        Outcome outcome = run(compiled, launch, settings, n, &recorder);
        outcome.events = std::move(recorder.events);
        outcome.findings = findings<ObserverList>(compiled, launch, settings, n);
        EXPECT_EQ(outcome.findings, findings<ToldObservers>(compiled, launch, settings, n));
        return outcome;
    }

    template <typename List>
    std::string findings(bool compiled, LaunchShape launch, const LaunchSettings& settings,
                         std::uint32_t n) {
        RaceDetector races;
        GridRaces between_blocks;
        AccessCounters counters;
        const Memory none;
        HeatMap heat(none);  // of shared memory
        races.count_hazards_in(heat);
        List checks;
        checks.add(races);
        checks.add(between_blocks);
        checks.add(counters);
        checks.add(heat);
        run(compiled, launch, settings, n, &checks);
        return text_of(merged({races.findings(), between_blocks.findings()}), counters, heat);
    }

    /// Both forms agree in all schedules and barrier policies, with several seeds.
    void expect_equal(LaunchShape launch, std::uint32_t n = 0) {
        for (const Schedule schedule :
             {Schedule::random, Schedule::run_to_barrier, Schedule::reverse})
            for (const BarrierPolicy policy :
                 {BarrierPolicy::volta, BarrierPolicy::before_volta, BarrierPolicy::strict})
                for (std::uint64_t seed = 1; seed <= (schedule == Schedule::random ? 20u : 1u);
                     ++seed) {
                    LaunchSettings settings;
                    settings.schedule = schedule;
                    settings.barriers = policy;
                    settings.seed = seed;
                    settings.threads = 1;
                    ASSERT_EQ(run(false, launch, settings, n), run(true, launch, settings, n))
                        << "schedule " << int(schedule) << ", policy " << int(policy) << ", seed "
                        << seed;
                    if (seed > 2) continue;
                    ASSERT_EQ(observe(false, launch, settings, n),
                              observe(true, launch, settings, n))
                        << "observed, schedule " << int(schedule) << ", policy " << int(policy)
                        << ", seed " << seed;
                }
    }

    /// Both forms stop at one instruction, whatever the budget.
    void expect_equal_budgets(LaunchShape launch, std::uint64_t most) {
        for (std::uint64_t budget = 1; budget <= most; ++budget) {
            LaunchSettings settings;
            settings.instruction_budget = budget;
            settings.threads = 1;
            ASSERT_EQ(run(false, launch, settings, 0), run(true, launch, settings, 0))
                << "budget " << budget;
        }
    }

    std::shared_ptr<const Kernel> with_reports() {
        if (!reports_owner_)
            reports_owner_ = std::make_shared<CompiledKernel>(installed_llvm(), module_, kernel_,
                                                              CompiledForm::reports_accesses, set_,
                                                              for_some_lanes_);
        return {reports_owner_, &reports_owner_->kernel()};
    }
    void compile_for_some_lanes() {
        owner_->compile_for_some_lanes();
        if (reports_owner_) reports_owner_->compile_for_some_lanes();
    }

    std::shared_ptr<const Module> module_;
    const Kernel& kernel_;
    InstructionSet set_;
    ForSomeLanes for_some_lanes_;
    std::shared_ptr<CompiledKernel> owner_, reports_owner_;
    std::shared_ptr<const Kernel> compiled_;
};

}  // namespace warpscope::emulator
