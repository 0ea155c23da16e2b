#include "experiments/nbody/nbody.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "experiments/bodies/bodies_file.h"
#include "experiments/framework/edited.h"

namespace warpscope::experiments {
namespace {

/// A value that the mouse has set, rounded to a fraction of 1 / `parts`, so that its text is short.
double short_number(double value, double parts) {
    return std::round(value * parts) / parts + 0.0;  // no "-0"
}

/// The radius fills 1/1.1 of half the picture's height, whose angle of view has tangent 0.4.
Orbit orbit(const NBodyParameters& chosen, double radius) {
    return {chosen.yaw, chosen.pitch, radius / (1.1 * 0.4) * chosen.distance};
}

}  // namespace

NBody::NBody(compute::Device& device) : Experiment(device), picture_(device) {
    Made made = make_start();
    adopt(made.bodies);
    origin_ = std::move(made.origin);
    mass_origin_ = std::move(made.mass_origin);
}

NBody::Made NBody::make_start() {
    const auto n = std::size_t(std::int64_t(chosen_.bodies));
    const auto seed = std::uint64_t(std::int64_t(chosen_.seed));
    const Start start = chosen_.start;
    const std::stop_token& stop = device().launch_limits().stop;
    if (start != Start::file) NBodyState::require_room(device(), n);
    switch (start) {
        case Start::plummer:
            return {plummer_sphere(n, seed, stop), "A Plummer sphere in equilibrium."};
        case Start::disk:
            return {rotating_disk(n, seed, stop), "A disk that turns round a heavy central body."};
        case Start::collision:
            return {colliding_galaxies(n, seed, stop), "Two disks that will collide."};
        case Start::cold:
            return {cold_sphere(n, seed, stop),
                    "A sphere at rest. It collapses and then expands again."};
        case Start::file:
            break;
    }
    if (chosen_.file.value().empty())
        throw ParameterError("start \"file\" needs a file of bodies: set nbody.file to its path");
    LoadedBodies loaded = load_bodies(chosen_.file.value(), Parameters::most_bodies, stop);
    NBodyState::require_room(device(), loaded.bodies.size());
    const double length = loaded.length_unit, mass = loaded.mass_unit;
    const double time = std::sqrt(length * length * length / (loaded.gravity() * mass));
    const std::string units = fmt::format(
        fmt::runtime(loaded.is_si
                         ? "With G = 6.6743e-11 m^3 / (kg s^2), the unit of length is "
                           "{:.4g} m, the unit of mass {:.4g} kg, the unit of time {:.4g} s."
                         : "With G = 1, the unit of length is {:.4g} of the file's units, "
                           "the unit of mass {:.4g}, the unit of time {:.4g}."),
        length, mass, time);
    return {std::move(loaded.bodies),
            fmt::format("From {}. {}{}{}", chosen_.file.value(), loaded.said,
                        loaded.said.empty() ? "" : " ", units),
            loaded.total_mass == 0 ? "All masses in the file are 0, so no body pulls another one."
                                   : fmt::format("The masses in the file add up to {:.4g}{}.",
                                                 loaded.total_mass, loaded.is_si ? " kg" : "")};
}

void NBody::adopt(const Bodies& start) {
    // The steps that can fail come first: an exception leaves the old state unchanged.
    NBodyState state(device(), chosen_.launched(), start);
    device().check_stop("the start of the bodies");
    drift_.begin(start, eps(), 0);
    state_.emplace(std::move(state));
    if (&start != &start_state_) start_state_ = start;
    radius_ = radius_of_share(start_state_, 0.9);
    if (radius_ <= 0) radius_ = 1;
    // Bodies that start at rest reach about the speed that their gravity gives them.
    const double falling = 0.6 * std::sqrt(total_mass(start_state_) / radius_);
    reference_speed_ = std::max({rms_speed(start_state_), falling, 1e-6});
}

void NBody::changed(std::span<Parameter* const> which) {
    const bool from_file = chosen_.start == Start::file;
    const bool new_start = any_of(which, {&chosen_.start}) ||
                           (from_file && any_of(which, {&chosen_.file})) ||
                           (!from_file && any_of(which, {&chosen_.bodies, &chosen_.seed}));
    if (new_start) {
        Made made = make_start();
        adopt(made.bodies);
        origin_ = std::move(made.origin);
        mass_origin_ = std::move(made.mass_origin);
        begin_at_frame_0();
    } else if (state_->kernel() != chosen_.launched()) {
        NBodyState state(device(), chosen_.launched(), state_->download());
        state_.emplace(std::move(state));
        step_error_.reset();
    }
    // Softening changes the formula of the energy, so the drift is measured from here on.
    if (any_of(which, {&chosen_.softening}) && !new_start)
        drift_.begin(state_->download(), eps(), frame());
    if (new_start || any_of(which, {&chosen_.block, &chosen_.softening, &chosen_.check}))
        step_error_.reset();
    if (new_start || any_of(which, {&chosen_.block})) {
        // The rate is the median over past launches, which had another launch configuration.
        device().synchronize();
        device().timings().clear();
    }
}

void NBody::do_step() {
    device().begin_frame(frame());
    state_->step(unsigned(chosen_.block), float(chosen_.dt), eps());
}

void NBody::launch_kernel() {
    device().begin_frame(frame());
    state_->find_forces(unsigned(chosen_.block), float(chosen_.dt), eps());
}

std::vector<KnownResult> NBody::known_results() {
    const NBodyKernel kernel = state_->kernel();
    if (divides_sums(kernel) || state_->exchange() || edited(device(), file_of(kernel))) return {};
    const NBodyRank& rank = state_->ranks().front();
    const launches::ElementType type{.lanes = unsigned(rank.stride())};
    return {{.name = "body",
             .address = rank.positions().address,
             .type = type,
             .shape = {state_->size()},
             .right = [this, kernel, type] {
                 NBodyState right =
                     NBodyState::on_one(device(), with_barriers(kernel), state_->before_step());
                 right.step(unsigned(chosen_.block), float(chosen_.dt), eps());
                 launches::Array positions(type, {right.size()});
                 device().download(positions.bytes.data(),
                                   right.ranks().front().positions().address,
                                   positions.bytes.size());
                 return positions;
             }}};
}

// The places are those at which splat_bodies of kernels/splat.cu draws the bodies.
Experiment::Places NBody::places() {
    return
        [radius = radius_](const ParameterSet& now, Size size, const launches::Array& positions) {
            const auto& chosen = dynamic_cast<const Parameters&>(now);
            const SplatCamera camera = camera_of(orbit(chosen, radius), size);
            std::vector<Pointer> places;
            for (std::size_t k = 0; k < positions.numbers(); k += positions.type.lanes) {
                float p[3];
                std::memcpy(p, &positions.bytes[k * sizeof(float)], sizeof p);
                const auto along = [&](const float* axis) {
                    return double(axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2]);
                };
                const double depth = along(camera.forward) + double(camera.distance);
                const double scale = depth > 0.02 * double(camera.distance)
                                         ? double(camera.focal) / depth
                                         : std::numeric_limits<double>::infinity();
                places.push_back({double(camera.center_x) + along(camera.right) * scale,
                                  double(camera.center_y) + along(camera.down) * scale});
            }
            return places;
        };
}

std::any NBody::save_state() {
    return state_->download();
}

void NBody::load_state(const std::any& state) {
    state_.emplace(NBodyState(device(), chosen_.launched(), std::any_cast<const Bodies&>(state)));
}

void NBody::do_reset() {
    adopt(start_state_);
}

void NBody::render_into(const PixelTarget& target) {
    picture_.draw(*state_,
                  {orbit(chosen_, radius_), chosen_.exposure, reference_speed_, target.size},
                  target.pixels);
}

void NBody::drag(double dx, double dy) {
    // A drag over the height of the picture turns by 180 degrees.
    const double yaw = short_number(std::remainder(chosen_.yaw - 180 * dx, 360.0), 100);
    const double pitch = short_number(
        std::clamp(chosen_.pitch + 180 * dy, chosen_.pitch.low(), chosen_.pitch.high()), 100);
    chosen_.yaw.set(yaw);
    chosen_.pitch.set(pitch);
}

void NBody::scroll(double notches) {
    const double distance = short_number(chosen_.distance * std::pow(0.9, notches), 1000);
    chosen_.distance.set(std::clamp(distance, chosen_.distance.low(), chosen_.distance.high()));
}

}  // namespace warpscope::experiments
