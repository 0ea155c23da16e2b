#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "race_kernels.h"
#include "support/long_tests.h"

/// Random straight-line kernels, run with every order of their warps in every epoch. The detector
/// must report a race between warps if and only if two orders give different results.
namespace warpscope::tests {
namespace {

using emulator::FindingKind;
using emulator::Severity;

constexpr unsigned lanes = 2;  ///< lanes of each warp that access memory
constexpr unsigned bytes_of_memory = 16;

struct Step {
    bool barrier = false;
    bool store = false;
    unsigned warp = 0, lane = 0;
    unsigned address = 0, bytes = 4;
    std::uint32_t token = 0;
};

struct Program {
    unsigned warps = 2;
    std::vector<Step> steps;
    unsigned epochs() const {
        return 1 + unsigned(std::count_if(steps.begin(), steps.end(),
                                          [](const Step& s) { return s.barrier; }));
    }
};

/// True when the step and an earlier one of this epoch access a byte from two lanes of one warp,
/// and one of them writes.
bool conflicts_within_warp(const Program& program, const Step& step) {
    for (auto s = program.steps.rbegin(); s != program.steps.rend() && !s->barrier; ++s)
        if (s->warp == step.warp && s->lane != step.lane && (s->store || step.store) &&
            s->address < step.address + step.bytes && step.address < s->address + s->bytes)
            return true;
    return false;
}

/// Every stored byte has a different value, and none has an initial value (1 to 16).
Program random_program(std::mt19937& random) {
    const auto below = [&](unsigned n) { return unsigned(random() % n); };
    Program p;
    p.warps = 2 + below(2);
    unsigned next_byte = bytes_of_memory + 1, epoch = 0;
    const unsigned length = 4 + below(6);
    // With little memory most kernels race, with much memory few do.
    const unsigned reach = below(2) ? 4 : bytes_of_memory;
    while (p.steps.size() < length) {
        Step s;
        s.barrier = epoch < 2 && below(4) == 0;
        epoch += s.barrier;
        s.warp = below(p.warps);
        s.lane = below(lanes);
        s.bytes = 1u << below(3);
        s.address = below(reach / s.bytes) * s.bytes;
        s.store = below(2);
        if (!s.barrier && conflicts_within_warp(p, s)) continue;
        if (s.store)
            for (unsigned b = 0; b < s.bytes; ++b) s.token |= next_byte++ << 8 * b;
        p.steps.push_back(s);
    }
    // The last barrier makes the memory that the last epoch leaves visible to the observer.
    p.steps.push_back({.barrier = true});
    return p;
}

/// k(out): lane 0 of warp 0 fills the memory with 1, 2, 3 …; load number i goes to out[i].
std::string ptx_of(const Program& program) {
    std::string body =
        "mov.u32 %t, %tid.x;\nsetp.eq.u32 %p, %t, 0;\n@!%p bra READY;\n"
        "st.shared.u32 [cell], 67305985;\nst.shared.u32 [cell+4], 134678021;\n"
        "st.shared.u32 [cell+8], 202050057;\nst.shared.u32 [cell+12], 269422093;\n"
        "READY: bar.sync 0;\n";
    unsigned loads = 0;
    for (const Step& s : program.steps) {
        if (s.barrier) {
            body += "bar.sync 0;\n";
            continue;
        }
        const std::string type = ".u" + std::to_string(s.bytes * 8);
        const std::string at = "[cell+" + std::to_string(s.address) + "]";
        body += "setp.eq.u32 %p, %t, " + std::to_string(s.warp * 32 + s.lane) + ";\n";
        if (s.store) {
            body += "mov.u32 %v, " + std::to_string(s.token) + ";\n@%p st.shared" + type + " " +
                    at + ", %v;\n";
        } else {
            body += "@%p ld.shared" + type + " %v, " + at + ";\n@%p st.global.u32 [%out+" +
                    std::to_string(4 * loads++) + "], %v;\n";
        }
    }
    return ".version 9.0\n.target sm_75\n.address_size 64\n.shared .align 4 .b8 cell[16];\n"
           ".visible .entry k(.param .u64 k_out)\n{\n.reg .pred %p;\n.reg .b32 %t, %v;\n"
           ".reg .b64 %out;\nld.param.u64 %out, [k_out];\n" +
           body + "ret;\n}\n";
}

struct SharedMemoryLog : emulator::Observer {
    std::string bytes;
    void on_barrier_release(const emulator::BarrierRelease& r) override {
        bytes.append(reinterpret_cast<const char*>(r.shared_memory.data()), r.shared_memory.size());
    }
};

struct Outcome {
    std::string observed;     ///< loaded values, and shared memory at every barrier
    std::uint64_t races = 0;  ///< races between warps
    std::uint64_t others = 0;
};

Outcome run(const emulator::Module& module, const Program& program,
            const emulator::LaunchSettings& settings) {
    emulator::Machine machine;
    emulator::RaceDetector races;
    SharedMemoryLog shared_memory;
    emulator::ObserverList all;
    all.add(races);
    all.add(shared_memory);
    const std::size_t bytes = program.steps.size() * 4;
    auto* out = static_cast<char*>(machine.memory().allocate(bytes));
    const void* arguments[] = {&out};
    machine.run(*module.find("k"), {{1, 1, 1}, {program.warps * 32, 1, 1}, 0}, arguments, settings,
                &all);
    Outcome outcome{{out, out + bytes}};
    outcome.observed += shared_memory.bytes;
    for (const emulator::Finding& f : races.findings())
        (f.kind == FindingKind::race && f.severity == Severity::error ? outcome.races
                                                                      : outcome.others) += f.count;
    return outcome;
}

std::vector<std::vector<emulator::ListedTurn>> permutations(unsigned n) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::vector<std::vector<emulator::ListedTurn>> all;
    do {
        all.emplace_back();
        for (const std::uint32_t warp : order) all.back().push_back({warp});
    } while (std::next_permutation(order.begin(), order.end()));
    return all;
}

/// Calls f with settings for every order of the warps in every epoch. The epoch that fills the
/// memory and the one after the last barrier have one order only.
template <typename F>
void for_every_order(const Program& program, F&& f) {
    const auto orders = permutations(program.warps);
    const unsigned epochs = program.epochs() - 1;
    std::size_t count = 1;
    for (unsigned e = 0; e < epochs; ++e) count *= orders.size();
    for (std::size_t number = 0; number < count; ++number) {
        emulator::LaunchSettings settings{.schedule = emulator::Schedule::manual};
        settings.turns = {orders[0]};
        for (std::size_t e = 0, rest = number; e < epochs; ++e, rest /= orders.size())
            settings.turns.push_back(orders[rest % orders.size()]);
        f(settings);
    }
}

TEST(RaceProperty, RaceIsReportedExactlyWhenTwoOrdersGiveDifferentResults) {
    std::mt19937 random(20250721);
    unsigned racy = 0, clean = 0;
    constexpr unsigned cases = random_cases(400);
    for (unsigned k = 0; k < cases; ++k) {
        const Program program = random_program(random);
        const std::string ptx = ptx_of(program);
        SCOPED_TRACE(ptx);
        const auto module = emulator::Module::parse(ptx, "random");
        std::set<std::string> outcomes;
        std::set<bool> verdicts;
        std::uint64_t others = 0;
        for_every_order(program, [&](const emulator::LaunchSettings& settings) {
            Outcome outcome = run(*module, program, settings);
            outcomes.insert(std::move(outcome.observed));
            verdicts.insert(outcome.races > 0);
            others += outcome.others;
        });
        for (const emulator::LaunchSettings& settings : schedules(2))
            verdicts.insert(run(*module, program, settings).races > 0);
        const bool differ = outcomes.size() > 1;
        ASSERT_EQ(verdicts, std::set<bool>{differ}) << "every order must give one verdict";
        ASSERT_EQ(others, 0u) << "neither warnings nor unwritten words";
        ++(differ ? racy : clean);
    }
    EXPECT_GT(racy, cases / 8) << "otherwise the property was hardly tested";
    EXPECT_GT(clean, cases / 8);
}

TEST(RaceProperty, ManualScheduleRunsTheGivenOrder) {
    // Both warps store to one word; the later store remains.
    Program program{.warps = 2,
                    .steps = {{.store = true, .warp = 0, .token = 100},
                              {.store = true, .warp = 1, .token = 200},
                              {.barrier = true}}};
    const auto module = emulator::Module::parse(ptx_of(program), "two");
    for (const std::uint32_t last : {0u, 1u}) {
        emulator::LaunchSettings settings{.schedule = emulator::Schedule::manual};
        settings.turns = {{{0}, {1}}, {{1 - last}, {last}}};
        const Outcome outcome = run(*module, program, settings);
        EXPECT_EQ(outcome.observed.at(3 * 4 + bytes_of_memory), char(last ? 200 : 100));
        EXPECT_EQ(outcome.races, 1u);
    }
}

}  // namespace
}  // namespace warpscope::tests
