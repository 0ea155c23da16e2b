#include "experiments/nbody_state.h"

#include <fmt/format.h>

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

}  // namespace

std::string_view name_of(NBodyKernel kernel) {
    switch (kernel) {
        case NBodyKernel::float3:
            return "nbody_float3";
        case NBodyKernel::float4:
            return "nbody_float4";
        case NBodyKernel::tiled:
            break;
    }
    return "nbody_tiled";
}

NBodyState::NBodyState(compute::Device& device, NBodyKernel kernel, const Bodies& bodies)
    : device_(&device), kernel_(kernel), bodies_(bodies) {
    const auto position = rows(
        bodies, stride(), [](const Body& b) -> auto& { return b.position; },
        [](const Body& b) { return b.mass; });
    const auto velocity = rows(
        bodies, stride(), [](const Body& b) -> auto& { return b.velocity; },
        [](const Body&) { return 0.0f; });
    std::vector<float> luminosity;
    for (const Body& body : bodies) luminosity.push_back(body.luminosity);

    if (kernel == NBodyKernel::float3) {
        float3_kernel_ =
            device.kernel<Pointer, Pointer, Pointer, Pointer, Pointer, int, float, float>(
                "nbody", name_of(kernel));
        std::vector<float> mass;
        for (const Body& body : bodies) mass.push_back(body.mass);
        mass_ = compute::Buffer<float>(device, mass);
    } else {
        float4_kernel_ = device.kernel<Pointer, Pointer, Pointer, Pointer, int, float, float>(
            "nbody", name_of(kernel));
    }
    position_[0] = compute::Buffer<float>(device, position);
    velocity_[0] = compute::Buffer<float>(device, velocity);
    position_[1] = compute::Buffer<float>(device, position.size());
    velocity_[1] = compute::Buffer<float>(device, velocity.size());
    luminosity_ = compute::Buffer<float>(device, luminosity);
}

void NBodyState::step(unsigned block, float dt, float eps) {
    const int n = int(size());
    compute::Shape shape;
    shape.grid.x = (unsigned(n) + block - 1) / block;
    shape.block.x = block;
    if (kernel_ == NBodyKernel::tiled) shape.shared_bytes = block * 4 * sizeof(float);

    const double pairs = double(n) * n;
    const double state_bytes = double(n) * 2 * stride() * sizeof(float);
    const double mass_bytes = kernel_ == NBodyKernel::float3 ? double(n) * sizeof(float) : 0;
    // 20 operations an interaction, as the literature counts them.
    const compute::Work work{2 * state_bytes + mass_bytes, pairs, 20 * pairs};

    const int next = 1 - current_;
    const Pointer to[] = {position_[next].pointer(), velocity_[next].pointer()};
    if (kernel_ == NBodyKernel::float3) {
        device_->launch(float3_kernel_, shape, work, to[0], to[1], positions(), velocities(),
                        mass_.pointer(), n, dt, eps);
    } else {
        device_->launch(float4_kernel_, shape, work, to[0], to[1], positions(), velocities(), n, dt,
                        eps);
    }
    current_ = next;
}

Bodies NBodyState::download() const {
    const std::vector<float> position = position_[current_].download();
    const std::vector<float> velocity = velocity_[current_].download();
    Bodies bodies = bodies_;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const std::size_t row = i * std::size_t(stride());
        std::copy_n(position.begin() + std::ptrdiff_t(row), 3, bodies[i].position.begin());
        std::copy_n(velocity.begin() + std::ptrdiff_t(row), 3, bodies[i].velocity.begin());
    }
    return bodies;
}

std::size_t NBodyState::bytes_for(std::size_t n) {
    constexpr std::size_t floats = 2 * (4 + 4) + 1;  // old and new float4 pairs, luminosity
    return n * floats * sizeof(float);
}

void NBodyState::require_room(const compute::Device& device, std::size_t n) {
    const std::size_t wanted = 2 * bytes_for(n);
    const std::size_t there = device.info().memory_bytes;
    if (wanted <= there) return;
    constexpr double mib = 1024 * 1024;
    throw compute::DeviceError(fmt::format(
        "{} bodies take {:.1f} MiB and {} has {:.1f} MiB: take {} or fewer", n,
        double(wanted) / mib, device.info().name, double(there) / mib, there / (2 * bytes_for(1))));
}

}  // namespace warpscope::experiments
