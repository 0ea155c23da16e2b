#include "experiments/nbody/nbody_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <utility>

#include "experiments/nbody/nbody_order.h"

namespace warpscope::experiments {

void StepLaunches::run(compute::Device& device, std::size_t n, std::size_t unit,
                       const Launch& launch) {
    const bool divided = device.info().kind == compute::DeviceKind::cuda &&
                         device.launch_limits().stop.stop_possible() &&
                         double(n) * double(n) > long_step;
    if (!divided) return launch(0, n);
    device.synchronize();
    for (std::size_t begin = 0, count = 0; begin < n; begin += count) {
        count = std::min(units_ * unit, n - begin);
        const auto start = std::chrono::steady_clock::now();
        launch(begin, count);
        device.synchronize();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (count == units_ * unit) units_ = next_units(units_, took.count());
    }
}

std::size_t StepLaunches::next_units(std::size_t units, double seconds) {
    const double fit = double(units) * wanted_seconds / std::max(seconds, 1e-6);
    return std::size_t(std::clamp(fit, 1.0, 2.0 * double(units)));
}

namespace {

using Task = NBodyOrder::Task;

/// While it exists, the launches of a step get times or not. On several GPUs a step may be so short
/// that its times would cost a tenth of it: some steps are enough.
class Timed {
  public:
    Timed(std::vector<NBodyRank>& ranks, bool on) : ranks_(ranks), off_(!on) { set(on); }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;
    ~Timed() { set(true); }

  private:
    void set(bool on) {
        if (!off_) return;
        for (NBodyRank& rank : ranks_) rank.device().time_launches(on);
    }

    std::vector<NBodyRank>& ranks_;
    const bool off_;
};

std::uint32_t next_number() {
    static std::atomic<std::uint32_t> next = 0;
    return next++;
}

}  // namespace

NBodyState::NBodyState(compute::Device& device, NBodyKernel kernel, const Bodies& bodies)
    : NBodyState(device, device.exchange(), kernel, std::nullopt, bodies) {}

NBodyState::NBodyState(compute::Device& device, const NBodyPartition& partition,
                       const Bodies& bodies, NBodyKernel kernel)
    : NBodyState(device, device.exchange(), kernel, partition, bodies) {}

NBodyState NBodyState::on_one(compute::Device& device, NBodyKernel kernel, const Bodies& bodies) {
    return {device, nullptr, kernel, std::nullopt, bodies};
}

NBodyState::NBodyState(compute::Device& device, compute::Exchange* exchange, NBodyKernel kernel,
                       const std::optional<NBodyPartition>& partition, const Bodies& bodies)
    : exchange_(exchange), number_(next_number()), bodies_(bodies) {
    const NBodyOrder make{.task = Task::make,
                          .kernel = kernel,
                          .math = device.settings().math,
                          .has_partition = partition.has_value(),
                          .partition = partition.value_or(NBodyPartition())};
    carry_out(
        *this, make, [] {}, bodies);
    try {
        make_ranks(device, kernel, partition);
    } catch (...) {
        drop();
        throw;
    }
}

void NBodyState::make_ranks(compute::Device& device, NBodyKernel kernel,
                            const std::optional<NBodyPartition>& partition) {
    const std::vector<compute::Device*> devices =
        exchange_ ? exchange_->devices() : std::vector{&device};
    const std::size_t first = exchange_ ? exchange_->first() : 0;
    const std::size_t all = exchange_ ? exchange_->ranks() : 1;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        devices[i]->set(device.settings());
        const BodyShare share = share_of(bodies_.size(), all, first + i);
        const auto best = NBodyPartition::best(devices[i]->info(), bodies_.size(), share.count);
        ranks_.emplace_back(*devices[i], kernel, partition.value_or(best), bodies_, share);
    }
}

/// Drops the state in the processes of the other ranks.
void NBodyState::drop() const noexcept {
    try {
        carry_out(*this, {.task = Task::drop}, [] {});
    } catch (const compute::DeviceError&) {
        // The others have ended, and so has their memory.
    }
}

NBodyState::NBodyState(NBodyState&& other) noexcept = default;

NBodyState& NBodyState::operator=(NBodyState&& other) noexcept {
    std::swap(exchange_, other.exchange_);
    std::swap(ranks_, other.ranks_);
    std::swap(number_, other.number_);
    std::swap(bodies_, other.bodies_);
    std::swap(launches_, other.launches_);
    std::swap(steps_, other.steps_);
    return *this;
}

NBodyState::~NBodyState() {
    if (!ranks_.empty()) drop();  // else it was moved to another object
}

void NBodyState::step(unsigned block, float dt, float eps) {
    compute::Device& device = ranks_.front().device();
    device.check_stop("a step");
    const NBodyStep step{block, dt, eps};
    carry_out(*this, {.task = Task::step, .step = step}, [&] {
        const bool gpus = device.info().kind == compute::DeviceKind::cuda;
        const Timed timed(ranks_, !exchange_ || !gpus || steps_++ % 8 == 0);
        queue_forces(step);
        for (NBodyRank& rank : ranks_) rank.integrate(dt);
        end_step();
    });
}

void NBodyState::find_forces(unsigned block, float dt, float eps) {
    compute::Device& device = ranks_.front().device();
    device.check_stop("a step");
    const NBodyStep step{block, dt, eps};
    carry_out(*this, {.task = Task::find_forces, .step = step}, [&] {
        queue_forces(step);
        if (!divides_sums(kernel())) end_step();
    });
}

void NBodyState::queue_forces(const NBodyStep& step) {
    const NBodyRank& first = ranks_.front();
    const std::size_t most = first.share().count;
    const auto launch = [&](std::size_t begin, std::size_t count) {
        // The shares of other ranks may have one body more.
        const bool last = begin + count == most;
        for (NBodyRank& rank : ranks_)
            rank.find_forces(begin, last ? rank.share().count - begin : count, step);
    };
    launches_.run(first.device(), most, first.bodies_of_wave(step.block), launch);
}

void NBodyState::end_step() {
    for (NBodyRank& rank : ranks_) rank.swap_states();
    gather(false);
}

void NBodyState::gather(bool velocities) const {
    if (!exchange_) return;
    std::vector<std::uint64_t> arrays;
    for (const NBodyRank& rank : ranks_)
        arrays.push_back((velocities ? rank.velocities() : rank.positions()).address);
    const std::size_t body = std::size_t(ranks_.front().stride()) * sizeof(float);
    exchange_->all_gather(arrays, byte_bounds(size(), exchange_->ranks(), body));
}

void NBodyState::gather_velocities() const {
    carry_out(*this, {.task = Task::gather}, [&] { gather(true); });
}

Bodies NBodyState::download() const {
    gather_velocities();
    Bodies bodies = bodies_;
    ranks_.front().download(bodies);
    return bodies;
}

Bodies NBodyState::before_step() const {
    Bodies bodies = bodies_;
    ranks_.front().download_old(bodies);
    return bodies;
}

std::size_t NBodyState::bytes_for(std::size_t n) {
    constexpr std::size_t floats = 2 * (4 + 4) + 1;  // old and new float4 pairs, luminosity
    return n * floats * sizeof(float) + NBodyPartition::most_partial_bytes(n);
}

void NBodyState::require_room(const compute::Device& device, std::size_t n) {
    const std::size_t wanted = 2 * bytes_for(n);
    const std::size_t there = device.info().memory_bytes;
    if (wanted <= there) return;
    std::size_t fit = 0;
    for (std::size_t more = std::bit_floor(n); more > 0; more /= 2)
        if (2 * bytes_for(fit + more) <= there) fit += more;
    constexpr double mib = 1024 * 1024;
    throw compute::OutOfMemory(
        fmt::format("{} bodies need {:.1f} MiB and {} has {:.1f} MiB: choose {} or fewer", n,
                    double(wanted) / mib, device.info().name, double(there) / mib, fit));
}

}  // namespace warpscope::experiments
