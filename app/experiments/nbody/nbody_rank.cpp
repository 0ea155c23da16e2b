#include "experiments/nbody/nbody_rank.h"

#include <algorithm>

namespace warpscope::experiments {
namespace {

/// The first three components of each body's position or velocity, and `w` if there is a fourth.
template <class Field, class W>
std::vector<float> rows(const Bodies& bodies, int stride, Field field, W w) {
    std::vector<float> values;
    values.reserve(bodies.size() * std::size_t(stride));
    for (const Body& body : bodies) {
        const std::array<float, 3>& v = field(body);
        values.insert(values.end(), v.begin(), v.end());
        if (stride == 4) values.push_back(w(body));
    }
    return values;
}

/// The pulls of n bodies on `moved` bodies. The literature counts 20 operations for each.
compute::Work pulls(double moved, double n, double bytes) {
    return {bytes, moved * n, 20 * moved * n};
}

/// The blocks that the multiprocessors hold at a time. A launch of fewer blocks leaves some of them
/// idle and hardly takes less time, because each thread reads all bodies.
unsigned blocks_of_wave(const compute::Device& device, unsigned block, NBodyKernel kernel) {
    constexpr unsigned most_threads = 2048;  // of a multiprocessor (CUDA Programming Guide)
    const bool bounded = kernel == NBodyKernel::several || divides_sums(kernel);
    const unsigned resident = bounded ? NBodyPartition::resident_blocks : most_threads / block;
    return unsigned(std::max(device.info().multiprocessors, 1)) * resident;
}

}  // namespace

NBodyRank::NBodyRank(compute::Device& device, NBodyKernel kernel, const NBodyPartition& partition,
                     const Bodies& bodies, BodyShare share)
    : device_(&device),
      kernel_(kernel),
      partition_(partition),
      share_(share),
      size_(bodies.size()) {
    load_kernels();
    const auto position = rows(
        bodies, stride(), [](const Body& b) -> auto& { return b.position; },
        [](const Body& b) { return b.mass; });
    const auto velocity = rows(
        bodies, stride(), [](const Body& b) -> auto& { return b.velocity; },
        [](const Body&) { return 0.0f; });
    std::vector<float> luminosity;
    for (const Body& body : bodies) luminosity.push_back(body.luminosity);

    if (kernel == NBodyKernel::float3) {
        std::vector<float> mass;
        for (const Body& body : bodies) mass.push_back(body.mass);
        mass_ = compute::Buffer<float>(device, mass);
    }
    position_[0] = compute::Buffer<float>(device, position);
    velocity_[0] = compute::Buffer<float>(device, velocity);
    position_[1] = compute::Buffer<float>(device, position.size());
    velocity_[1] = compute::Buffer<float>(device, velocity.size());
    luminosity_ = compute::Buffer<float>(device, luminosity);
    if (divides_sums(kernel))
        partial_ =
            compute::Buffer<float>(device, partition.partial_bytes(bodies.size()) / sizeof(float));
}

void NBodyRank::load_kernels() {
    const std::string_view file = file_of(kernel_), name = launches().front();
    if (kernel_ == NBodyKernel::float3) {
        float3_kernel_ =
            device_->kernel<Pointer, Pointer, Pointer, Pointer, Pointer, int, int, float, float>(
                file, name);
    } else if (divides_sums(kernel_)) {
        partial_kernel_ = device_->kernel<Pointer, Pointer, int, int, float, int>(file, name);
        integrate_kernel_ =
            device_->kernel<Pointer, Pointer, Pointer, Pointer, Pointer, int, int, int, float>(
                "nbody_ladder", launches().back());
    } else {
        float4_kernel_ =
            device_->kernel<Pointer, Pointer, Pointer, Pointer, int, int, float, float>(file, name);
    }
}

std::vector<std::string_view> NBodyRank::launches() const {
    if (!divides_sums(kernel_)) return {name_of(kernel_)};
    constexpr std::string_view small[] = {"nbody_fast_small", "nbody_async_small",
                                          "nbody_bulk_small", "nbody_async_no_wait_small",
                                          "nbody_bulk_no_wait_small"};
    const auto place = has_all_barriers(kernel_)
                           ? std::size_t(kernel_) - std::size_t(NBodyKernel::fast)
                           : 3 + std::size_t(kernel_) - std::size_t(NBodyKernel::async_no_wait);
    return {partition_.bodies == 2 ? small[place] : name_of(kernel_), "nbody_integrate"};
}

std::size_t NBodyRank::bodies_of_wave(unsigned block) const {
    block = block_of({.block = block});
    const unsigned rows = divides_sums(kernel_) ? partition_.rows_of(size_) : 1;
    const unsigned columns = std::max(blocks_of_wave(*device_, block, kernel_) / rows, 1U);
    return std::size_t(block) * bodies_of_thread() * columns;
}

void NBodyRank::find_forces(std::size_t begin, std::size_t count, const NBodyStep& step) {
    if (count == 0) return;
    const bool divides = divides_sums(kernel_);
    compute::LaunchShape shape;
    shape.block.x = block_of(step);
    const unsigned bodies = shape.block.x * bodies_of_thread();
    shape.grid = {unsigned((count + bodies - 1) / bodies), divides ? partition_.rows_of(size_) : 1};
    if (with_wait(kernel_) == NBodyKernel::bulk) shape.block.x += 32;  // the warp that produces
    if (divides)
        find_partial_forces(shape, int(share_.begin + begin), count, step.eps);
    else
        move(shape, int(share_.begin + begin), count, step);
}

unsigned NBodyRank::bodies_of_thread() const {
    if (divides_sums(kernel_)) return unsigned(partition_.bodies);
    return kernel_ == NBodyKernel::several ? 4 : 1;
}

unsigned NBodyRank::block_of(const NBodyStep& step) const {
    const bool fixed = kernel_ == NBodyKernel::several || divides_sums(kernel_);
    return fixed ? NBodyPartition::threads : step.block;
}

/// Computes the new state of `count` bodies, which becomes the current one later.
void NBodyRank::move(compute::LaunchShape shape, int begin, std::size_t count,
                     const NBodyStep& step) {
    const bool tile_of_block = kernel_ == NBodyKernel::tiled || kernel_ == NBodyKernel::rsqrt ||
                               kernel_ == NBodyKernel::unrolled || !has_all_barriers(kernel_);
    if (tile_of_block) shape.dynamic_shared_bytes = shape.block.x * 4 * sizeof(float);

    const int n = int(size_);
    const double position_bytes = double(stride()) * sizeof(float);
    const double mass_bytes = kernel_ == NBodyKernel::float3 ? sizeof(float) : 0;
    // Reads all positions and masses, and the velocities of its bodies, whose new state it writes.
    const compute::Work work = pulls(
        double(count), n, n * (position_bytes + mass_bytes) + double(count) * 3 * position_bytes);

    const int next = 1 - current_;
    const Pointer to[] = {position_[next].pointer(), velocity_[next].pointer()};
    if (kernel_ == NBodyKernel::float3) {
        device_->launch(float3_kernel_, shape, work, to[0], to[1], positions(), velocities(),
                        mass_.pointer(), n, begin, step.dt, step.eps);
    } else {
        device_->launch(float4_kernel_, shape, work, to[0], to[1], positions(), velocities(), n,
                        begin, step.dt, step.eps);
    }
}

void NBodyRank::find_partial_forces(const compute::LaunchShape& shape, int begin, std::size_t count,
                                    float eps) {
    const std::size_t n = size_;
    const double position_bytes = double(n) * 4 * sizeof(float);
    const double partial_bytes = double(partition_.partial_bytes(n)) * double(count) / double(n);
    device_->launch(
        partial_kernel_, shape, pulls(double(count), double(n), position_bytes + partial_bytes),
        partial_.pointer(), positions(), int(n), begin, eps * eps, partition_.share_of(n));
}

void NBodyRank::integrate(float dt) {
    if (!divides_sums(kernel_) || share_.count == 0) return;
    constexpr unsigned block = 128;  // few bodies still reach many multiprocessors
    compute::LaunchShape shape;
    shape.grid.x = unsigned((share_.count + block - 1) / block);
    shape.block.x = block;
    const unsigned rows = partition_.rows_of(size_);
    const auto moved = double(share_.count);
    const double state_bytes = moved * 2 * 4 * sizeof(float);
    const double partial_bytes = moved * rows * 4 * sizeof(float);
    // Three additions for each row and six multiply-adds for each body.
    const compute::Work work{2 * state_bytes + partial_bytes, 0, moved * (3.0 * rows + 12)};
    const int next = 1 - current_;
    device_->launch(integrate_kernel_, shape, work, position_[next].pointer(),
                    velocity_[next].pointer(), positions(), velocities(), partial_.pointer(),
                    int(size_), int(share_.begin), int(rows), dt);
}

void NBodyRank::download(Bodies& bodies, int state) const {
    const std::vector<float> position = position_[state].download();
    const std::vector<float> velocity = velocity_[state].download();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const std::size_t row = i * std::size_t(stride());
        std::copy_n(position.begin() + std::ptrdiff_t(row), 3, bodies[i].position.begin());
        std::copy_n(velocity.begin() + std::ptrdiff_t(row), 3, bodies[i].velocity.begin());
    }
}

}  // namespace warpscope::experiments
