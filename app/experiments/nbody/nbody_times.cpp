#include "experiments/nbody/nbody_times.h"

#include <algorithm>

#include "experiments/measure/launch_times.h"
#include "experiments/nbody/nbody_order.h"

namespace warpscope::experiments {
namespace {

double median_ms(compute::Device& device, std::string_view name) {
    return newest_median_ms(device, name, compute::KernelTiming::window);
}

}  // namespace

// A launch of a divided step (StepLaunches) computes a part of the interactions.
double compute_ms(const NBodyRank& rank, std::size_t launches) {
    double ms = 0;
    for (const std::string_view kernel : rank.launches()) {
        const double median = newest_median_ms(rank.device(), kernel, launches);
        const compute::KernelTiming* timing = rank.device().timings().find(kernel);
        const double part = timing ? timing->work.interactions : 0;
        ms += part > 0 ? median * rank.interactions() / part : median;
    }
    return ms;
}

std::vector<RankTime> without_waiting(std::vector<RankTime> times) {
    double least = times.empty() ? 0 : times.front().exchange;
    for (const RankTime& time : times) least = std::min(least, time.exchange);
    for (RankTime& time : times) {
        time.waiting += time.exchange - least;
        time.exchange = least;
    }
    return times;
}

std::vector<RankTime> rank_times(const NBodyState& state) {
    compute::Exchange* const exchange = state.exchange();
    if (!exchange) return {};
    std::vector<RankTime> times(exchange->ranks());
    const auto gather = [&] {
        std::vector<double> own[3];
        for (const NBodyRank& rank : state.ranks()) {
            own[0].push_back(compute_ms(rank, compute::KernelTiming::window));
            own[1].push_back(median_ms(rank.device(), compute::all_gather_timing));
            own[2].push_back(median_ms(rank.device(), compute::waiting_timing));
        }
        double RankTime::*const parts[] = {&RankTime::compute, &RankTime::exchange,
                                           &RankTime::waiting};
        for (int part = 0; part < 3; ++part) {
            const std::vector<double> all = exchange->gather_values(own[part]);
            for (std::size_t rank = 0; rank < times.size(); ++rank)
                times[rank].*parts[part] = all[rank];
        }
    };
    carry_out(state, {.task = NBodyOrder::Task::times}, gather);
    return without_waiting(std::move(times));
}

}  // namespace warpscope::experiments
