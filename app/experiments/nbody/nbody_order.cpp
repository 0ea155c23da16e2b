#include "experiments/nbody/nbody_order.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "compute/device/device.h"
#include "experiments/measure/compared_kernels.h"
#include "experiments/nbody/nbody_state.h"

namespace warpscope::experiments {
namespace {

using Task = NBodyOrder::Task;

/// The states of rank 0, with the ranks of this process.
class NBodyFollower : public compute::CallReceiver {
  public:
    explicit NBodyFollower(compute::Device& device) : device_(device), picture_(device) {}

    void carry_out(std::span<const std::byte> content) override {
        NBodyOrder order;
        std::memcpy(&order, content.data(), sizeof order);
        Bodies bodies((content.size() - sizeof order) / sizeof(Body));
        if (!bodies.empty())
            std::memcpy(bodies.data(), content.data() + sizeof order, bodies.size() * sizeof(Body));
        carry_out(order, bodies);
    }

  private:
    void carry_out(const NBodyOrder& order, const Bodies& bodies) {
        if (order.task == Task::make) return make(order, bodies);
        NBodyState& state = states_.at(order.state);
        const auto& [block, dt, eps] = order.step;
        switch (order.task) {
            case Task::make:
                break;
            case Task::drop:
                states_.erase(order.state);
                break;
            case Task::step:
                return state.step(block, dt, eps);
            case Task::find_forces:
                return state.find_forces(block, dt, eps);
            case Task::gather:
                return state.gather_velocities();
            case Task::draw:
                return picture_.draw(state, order.view, {});
            case Task::times:
                rank_times(state);
                break;
        }
    }

    void make(const NBodyOrder& order, const Bodies& bodies) {
        compute::RunSettings settings = device_.settings();
        settings.math = order.math;
        device_.set(settings);
        states_.emplace(order.state, order.has_partition
                                         ? NBodyState(device_, order.partition, bodies)
                                         : NBodyState(device_, order.kernel, bodies));
    }

    compute::Device& device_;
    NBodyPicture picture_;
    std::map<std::uint32_t, NBodyState> states_;
};

void tell(compute::Exchange& exchange, const NBodyOrder& order, const Bodies& bodies) {
    const auto words = std::as_bytes(std::span(&order, 1));
    const auto values = std::as_bytes(std::span(bodies));
    std::vector<std::byte> content(words.begin(), words.end());
    content.insert(content.end(), values.begin(), values.end());
    exchange.tell(content);
}

}  // namespace

void carry_out(const NBodyState& state, NBodyOrder order, const std::function<void()>& own,
               const Bodies& bodies) {
    compute::Exchange* const exchange = state.exchange();
    if (!exchange || !exchange->has_other_processes()) return own();
    const compute::Uninterrupted uninterrupted(*exchange->devices().front());
    order.state = state.number();
    if (exchange->first() == 0) tell(*exchange, order, bodies);
    try {
        own();
    } catch (const compute::DeviceError& e) {
        throw compute::DeviceLost(e.what());
    }
}

std::unique_ptr<compute::CallReceiver> make_nbody_follower(compute::Device& device) {
    return std::make_unique<NBodyFollower>(device);
}

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
