#include "experiments/nbody/nbody_order.h"

#include <cstring>
#include <map>

#include "experiments/nbody/nbody_state.h"
#include "experiments/nbody/nbody_times.h"

namespace warpscope::experiments {
namespace {

using Task = NBodyOrder::Task;

/// The states of rank 0, with the ranks of this process.
class Follower {
  public:
    explicit Follower(compute::Device& device) : device_(device), picture_(device) {}

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

  private:
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

}  // namespace

void tell(compute::Exchange* exchange, const NBodyOrder& order, const Bodies& bodies) {
    if (!exchange || !exchange->has_other_processes() || exchange->first() != 0) return;
    const auto words = std::as_bytes(std::span(&order, 1));
    const auto values = std::as_bytes(std::span(bodies));
    std::vector<std::byte> message(words.begin(), words.end());
    message.insert(message.end(), values.begin(), values.end());
    exchange->tell(message);
}

void follow_nbody(compute::Device& device) {
    Follower follower(device);
    for (;;) {
        const std::vector<std::byte> message = device.exchange()->hear();
        if (message.empty()) return;
        NBodyOrder order;
        std::memcpy(&order, message.data(), sizeof order);
        Bodies bodies((message.size() - sizeof order) / sizeof(Body));
        if (!bodies.empty())
            std::memcpy(bodies.data(), message.data() + sizeof order, bodies.size() * sizeof(Body));
        follower.carry_out(order, bodies);
    }
}

}  // namespace warpscope::experiments
