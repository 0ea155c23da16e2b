#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "emulator/counters/access_counters.h"
#include "emulator/counters/heat_map.h"
#include "emulator/fast_paths/alike/alike_events.h"
#include "emulator/fast_paths/alike/told_observers.h"
#include "emulator/fast_paths/alike/warp_independence.h"
#include "emulator/fast_paths/compiled/both_forms.h"
#include "emulator/ptx_fixture.h"
#include "emulator/races/grid/grid_races.h"
#include "race_kernels.h"

namespace warpscope::tests::block_model {

using namespace emulator;

/// All observers that follow models, and of each a second one that does not.
struct Observers {
    explicit Observers(Machine& machine, bool tells = true)
        : heat(machine.memory()), told_heat(machine.memory()) {
        races.count_hazards_in(heat);
        grid_races.count_hazards_in(heat);
        told_races.count_hazards_in(told_heat);
        told_grid_races.count_hazards_in(told_heat);
        for (Observer* o : {static_cast<Observer*>(&races), static_cast<Observer*>(&grid_races),
                            static_cast<Observer*>(&counters), static_cast<Observer*>(&heat)})
            all.add(*o);
        for (Observer* o :
             {static_cast<Observer*>(&told_races), static_cast<Observer*>(&told_grid_races),
              static_cast<Observer*>(&told_counters), static_cast<Observer*>(&told_heat)})
            told.add(*o);
        if (tells) all.add(told);
    }

    RaceDetector races, told_races;
    GridRaces grid_races, told_grid_races;
    AccessCounters counters, told_counters;
    HeatMap heat, told_heat;
    ToldObservers told;
    ObserverList all;
};

inline std::string text_of(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& f : findings)
        text += fmt::format("{} {} [{}]\n", to_string(f.severity), f.sentence, f.count);
    return text;
}

inline void expect_equal(const std::vector<KernelHeat>& heat,
                         const std::vector<KernelHeat>& other) {
    ASSERT_EQ(heat.size(), other.size());
    for (std::size_t k = 0; k < heat.size(); ++k) {
        const auto &arrays = heat[k].arrays, &others = other[k].arrays;
        ASSERT_EQ(arrays.size(), others.size());
        for (std::size_t a = 0; a < arrays.size(); ++a)
            for (std::size_t f = 0; f < heat_figures; ++f)
                for (std::uint64_t word = 0; word < arrays[a].words(); ++word)
                    ASSERT_EQ(arrays[a].count(HeatFigure(f), word),
                              others[a].count(HeatFigure(f), word))
                        << "figure " << f << " of word " << word << " of array " << a;
    }
}

inline void expect_equal(const KernelCounters& counters, const KernelCounters& others) {
    EXPECT_EQ(static_cast<const ExecutedWork&>(counters), static_cast<const ExecutedWork&>(others));
    EXPECT_EQ(counters.lines, others.lines);
    EXPECT_EQ(counters.blocks, others.blocks);
    EXPECT_EQ(counters.barriers, others.barriers);
}

inline void expect_equal(const Observers& o) {
    EXPECT_EQ(text_of(o.races.findings()), text_of(o.told_races.findings()));
    EXPECT_EQ(text_of(o.grid_races.findings()), text_of(o.told_grid_races.findings()));
    expect_equal(o.counters.kernels().at(0), o.told_counters.kernels().at(0));
    expect_equal(o.heat.kernels(), o.told_heat.kernels());
}

/// What the observers that follow models have found is equal in both launches.
inline void expect_equal(const Observers& o, const Observers& other) {
    EXPECT_EQ(text_of(o.races.findings()), text_of(other.races.findings()));
    EXPECT_EQ(text_of(o.grid_races.findings()), text_of(other.grid_races.findings()));
    ASSERT_EQ(o.counters.kernels().size(), other.counters.kernels().size());
    if (o.counters.kernels().empty()) return;  // the launches have failed
    expect_equal(o.counters.kernels()[0], other.counters.kernels()[0]);
    expect_equal(o.heat.kernels(), other.heat.kernels());
}

/// The kernel in the form that observed launches run; null where libLLVM is not installed.
inline std::shared_ptr<const Kernel> compiled(const std::shared_ptr<const Module>& module) {
    if (!installed_llvm()) return nullptr;
    const auto owner = std::make_shared<CompiledKernel>(
        installed_llvm(), module, *module->kernels().front(), CompiledForm::reports_accesses);
    return {owner, &owner->kernel()};
}

}  // namespace warpscope::tests::block_model
