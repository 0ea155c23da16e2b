#include "experiments/nbody/nbody.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/nbody/bodies_file.h"

namespace warpscope::experiments {
namespace {

constexpr std::int64_t most_bodies = 1 << 20;

const std::vector<Choice::Word> kernel_words{{"float3", "float3, global"},
                                             {"float4", "float4, global"},
                                             {"tiled", "float4, shared tiles"},
                                             {"rsqrt", "tiles, 1/sqrt in one instruction"},
                                             {"unrolled", "tiles, unrolled"},
                                             {"several", "tiles, 4 bodies a thread"},
                                             {"fast", "fast: sums dealt to more blocks"}};

}  // namespace

NBody::NBody(compute::Device& device)
    : Experiment(device),
      kernel_(declare(), "kernel", "Kernel",
              "A ladder, each kernel with one change from the one before: bodies read from global "
              "memory as float3, as float4, in tiles through shared memory; 1 / sqrt in one "
              "instruction; 16 bodies a turn of the loop; 4 bodies a thread; the bodies that pull "
              "dealt to as many blocks as fill the card.",
              kernel_words, std::size_t(NBodyKernel::tiled)),
      bodies_(declare(), "bodies", "Bodies", "How many bodies; a file brings its own number.", 4096,
              1, most_bodies),
      block_(declare(), "block", "Block size",
             "Threads of a block, and bodies of a tile; any size will do. The kernels several and "
             "fast always have 256.",
             256, 32, 1024),
      start_(declare(), "start", "Start", "Where the bodies are at frame 0.",
             {{"plummer", "Plummer sphere"},
              {"disk", "rotating disk"},
              {"collision", "two colliding galaxies"},
              {"cold", "cold sphere, at rest"},
              {"file", "from a file"}}),
      file_(declare(), "file", "File",
            "Tipsy binary, or CSV lines x,y,z,vx,vy,vz,mass; for the start \"file\"."),
      seed_(declare(), "seed", "Seed", "Of the random numbers behind a generated start.", 1, 0,
            1'000'000'000),
      dt_(declare(), "dt", "Time step",
          "Time of one frame, in units where gravity's constant, the total mass and a radius are "
          "1.",
          0.005, 1e-6, 1),
      softening_(declare(), "softening", "Softening",
                 "Length below which gravity weakens, so that close bodies don't fling each other "
                 "away.",
                 0.02, 1e-4, 10),
      check_(declare(), "check", "Check",
             "Bodies that relative_error compares, and up to how many the energy is summed.",
             {{"auto", "all up to 65536"}, {"all", "always all"}}),
      yaw_(declare(), "yaw", "Yaw", "Where the eye stands around the bodies.", 30, -360, 360, "°"),
      pitch_(declare(), "pitch", "Pitch", "How high above them it stands.", 35, -90, 90, "°"),
      distance_(declare(), "distance", "Distance",
                "How far away; at 1 the picture holds 90 % of the bodies of frame 0.", 1, 0.05, 20),
      exposure_(declare(), "exposure", "Exposure", "Brightness of the picture.", 1, 0.01, 100),
      picture_(device) {
    block_.only_when([this] {
        return kernel_.as<NBodyKernel>() != NBodyKernel::several &&
               kernel_.as<NBodyKernel>() != NBodyKernel::fast;
    });
    file_.only_when([this] { return start_.as<Start>() == Start::file; });
    for (Parameter* generated : std::initializer_list<Parameter*>{&bodies_, &seed_})
        generated->only_when([this] { return start_.as<Start>() != Start::file; });
    for (Parameter* view :
         std::initializer_list<Parameter*>{&check_, &yaw_, &pitch_, &distance_, &exposure_})
        view->only_shows();
    Made made = make_start();
    adopt(made.bodies);
    origin_ = std::move(made.origin);
}

NBody::Made NBody::make_start() {
    const auto n = std::size_t(std::int64_t(bodies_));
    const auto seed = std::uint64_t(std::int64_t(seed_));
    const Start start = start_.as<Start>();
    if (start != Start::file) NBodyState::require_room(device(), n);
    switch (start) {
        case Start::plummer:
            return {plummer_sphere(n, seed), "A Plummer sphere in equilibrium."};
        case Start::disk:
            return {rotating_disk(n, seed), "A disk that turns round a heavy central body."};
        case Start::collision:
            return {colliding_galaxies(n, seed), "Two disks on their way into each other."};
        case Start::cold:
            return {cold_sphere(n, seed), "A sphere at rest: it falls together, then rebounds."};
        case Start::file:
            break;
    }
    if (file_.value().empty())
        throw ParameterError("start \"file\" needs a file of bodies: set nbody.file to its path");
    LoadedBodies loaded = load_bodies(file_.value(), most_bodies);
    NBodyState::require_room(device(), loaded.bodies.size());
    const double length = loaded.length_unit, mass = loaded.mass_unit;
    return {
        std::move(loaded.bodies),
        fmt::format("From {}; 1 is {:.4g} of the file's lengths, {:.4g} of its masses and {:.4g} "
                    "of its times (with G = 1).",
                    file_.value(), length, mass, std::sqrt(length * length * length / mass))};
}

void NBody::adopt(const Bodies& start) {
    // What can fail comes first, so that a throw leaves the old state whole.
    NBodyState state(device(), kernel_.as<NBodyKernel>(), start);
    drift_.begin(start, eps(), 0);
    state_.emplace(std::move(state));
    if (&start != &start_state_) start_state_ = start;
    radius_ = radius_of_share(start_state_, 0.9);
    if (radius_ <= 0) radius_ = 1;
    // Bodies at rest will soon be about as fast as their gravity can make them.
    const double falling = 0.6 * std::sqrt(total_mass(start_state_) / radius_);
    reference_speed_ = std::max({rms_speed(start_state_), falling, 1e-6});
}

void NBody::changed(std::span<Parameter* const> which) {
    const auto any = [&](std::initializer_list<const Parameter*> ones) {
        return std::ranges::find_first_of(which, ones) != which.end();
    };
    const bool from_file = start_.as<Start>() == Start::file;
    const bool new_start =
        any({&start_}) || (from_file && any({&file_})) || (!from_file && any({&bodies_, &seed_}));
    if (new_start) {
        Made made = make_start();
        adopt(made.bodies);
        origin_ = std::move(made.origin);
        reset();
    } else if (any({&kernel_})) {
        NBodyState state(device(), kernel_.as<NBodyKernel>(), state_->download());
        state_.emplace(std::move(state));
    }
    // With another softening the energy is another function; it is conserved from here on.
    if (any({&softening_}) && !new_start) drift_.begin(state_->download(), eps(), frame());
    if (new_start || any({&kernel_, &block_, &softening_, &check_})) step_error_.reset();
    if (new_start || any({&block_})) {
        // Rates come from the median of past launches, and those were of another shape.
        device().synchronize();
        device().timings().clear();
    }
}

void NBody::do_step() {
    device().begin_frame(frame());
    state_->step(unsigned(block_), float(dt_), eps());
}

void NBody::launch_kernel() {
    device().begin_frame(frame());
    state_->find_forces(unsigned(block_), float(dt_), eps());
}

std::any NBody::save_state() {
    return state_->download();
}

void NBody::load_state(const std::any& state) {
    state_.emplace(
        NBodyState(device(), kernel_.as<NBodyKernel>(), std::any_cast<const Bodies&>(state)));
}

void NBody::do_reset() {
    adopt(start_state_);
}

void NBody::render_into(const PixelTarget& target) {
    // The radius takes 1.1 of half the height, which is seen under an angle of tangent 0.4.
    const double fit = radius_ / (1.1 * 0.4);
    picture_.draw(*state_, {yaw_, pitch_, fit * distance_}, exposure_, reference_speed_, target);
}

bool NBody::drag(double dx, double dy) {
    // Half a turn for the picture's height.
    const double yaw = std::remainder(yaw_ - 180 * dx, 360.0);
    const double pitch = std::clamp(pitch_ + 180 * dy, pitch_.low(), pitch_.high());
    yaw_.parse(fmt::format("{}", yaw));
    pitch_.parse(fmt::format("{}", pitch));
    return true;
}

bool NBody::scroll(double notches) {
    const double distance = distance_ * std::pow(0.9, notches);
    distance_.parse(fmt::format("{}", std::clamp(distance, distance_.low(), distance_.high())));
    return true;
}

}  // namespace warpscope::experiments
