#include "experiments/nbody/nbody.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compute/device/number_text.h"
#include "experiments/bodies/bodies_file.h"
#include "experiments/framework/cuda_source.h"
#include "experiments/framework/experiment.h"
#include "experiments/measure/compared_kernels.h"
#include "experiments/nbody/nbody_order.h"

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
            return {plummer_sphere(n, seed, stop),
                    files::sentence("A Plummer sphere in equilibrium.")};
        case Start::disk:
            return {rotating_disk(n, seed, stop),
                    files::sentence("A disk that turns round a heavy central body.")};
        case Start::collision:
            return {colliding_galaxies(n, seed, stop),
                    files::sentence("Two disks that will collide.")};
        case Start::cold:
            return {cold_sphere(n, seed, stop),
                    files::sentence("A sphere at rest.")
                        .add(files::sentence("It collapses and then expands again."))};
        case Start::file:
            break;
    }
    if (chosen_.file.value().empty())
        throw ParameterError("start \"file\" needs a file of bodies: set nbody.file to its path");
    LoadedBodies loaded = load_bodies(chosen_.file.value(), Parameters::most_bodies, stop);
    NBodyState::require_room(device(), loaded.bodies.size());
    const double length = loaded.length_unit, mass = loaded.mass_unit;
    const double time = std::sqrt(length * length * length / (loaded.gravity() * mass));
    const auto digits = [](double number) { return fmt::format("{:.4g}", number); };
    files::Sentence origin = files::sentence("From {}.", chosen_.file.value());
    if (!loaded.said.empty()) origin.add(loaded.said);
    origin.add(files::sentence(
        loaded.is_si
            ? files::Form<3>("With G = 6.6743e-11 m^3 / (kg s^2), the unit of length is {} m, the "
                             "unit of mass {} kg, the unit of time {} s.")
            : files::Form<3>("With G = 1, the unit of length is {} of the file's units, the unit "
                             "of mass {}, the unit of time {}."),
        digits(length), digits(mass), digits(time)));
    return {std::move(loaded.bodies), std::move(origin),
            loaded.total_mass == 0
                ? files::sentence("All masses in the file are 0, so no body pulls another one.")
                : files::sentence("The masses in the file add up to {}.",
                                  digits(loaded.total_mass) + (loaded.is_si ? " kg" : ""))};
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

namespace {

/// Pairs that a report computes in double precision unless the user chose "always all": some
/// seconds on two cores, once.
constexpr double report_pairs = 65536.0 * 65536.0;

struct Row {
    std::string_view id, label;
    std::string_view published;
};
/// The times are those that a tutorial published, for a number of bodies and a GPU that it leaves
/// open.
constexpr Row comparison_rows[] = {{"float3", "float3, global memory", "3383.6 ms"},
                                   {"float4", "float4, global memory", "3738.6 ms"},
                                   {"tiled", "float4, tiles in shared memory", "3198.6 ms"},
                                   {"rsqrt", "tiles, 1 / sqrt in one instruction", ""},
                                   {"unrolled", "tiles, 16 bodies in each pass of the loop", ""},
                                   {"several", "tiles, 4 bodies for each thread", ""},
                                   {"fast", "tiles, each sum divided among several blocks", ""},
                                   {"async", "fast with two tiles by cp.async", ""},
                                   {"bulk", "fast with bulk copies", ""}};

/// The time of one step in ms: the sum over its kernels, and over its exchange with other ranks, of
/// the median of their newest `launches`.
double step_ms(compute::Device& device, const NBodyState& state, std::size_t launches) {
    double ms = compute_ms(state.ranks().front(), launches);
    if (!state.exchange()) return ms;
    for (const char* part : {compute::all_gather_timing, compute::waiting_timing})
        ms += newest_median_ms(device, part, launches);
    return ms;
}

bool on_gpu(const compute::Device& device) {
    return device.info().kind != compute::DeviceKind::emulator;
}

/// How many steps of `ms` each a comparison times.
std::size_t launches_to_time(const compute::Device& device, double ms) {
    if (!on_gpu(device)) return ms > 50 ? 1 : 3;
    return ms > 500 ? 1 : ms > 50 ? 5 : 15;
}

Verdict verdict_of(const compute::Device& device, NBodyKernel kernel, const StepError& error) {
    if (has_all_barriers(kernel)) return judged(device, file_of(kernel), error.passed());
    return error.passed() ? Verdict::unproven : Verdict::finding;
}

/// How the time of a step is divided, for each rank.
void add_ranks(Report& report, const NBodyState& state) {
    const std::vector<RankTime> times = rank_times(state);
    for (std::size_t rank = 0; rank < times.size(); ++rank) {
        const auto& [compute, exchange, waiting] = times[rank];
        const BodyShare share = share_of(state.size(), times.size(), rank);
        report.push_back(
            {.name = fmt::format("rank_{}", rank),
             .label = files::sentence("Rank {}, which moves {} of the bodies", rank,
                                      compute::grouped(double(share.count))),
             .value = compute + exchange + waiting,
             .unit = "ms",
             .sentence =
                 files::sentence("It computes {} ms, the exchange takes {} ms, and it "
                                 "waits {} ms for other ranks.",
                                 fmt::format("{:.3f}", compute), fmt::format("{:.3f}", exchange),
                                 fmt::format("{:.3f}", waiting)),
             .parts = {{"computes", compute}, {"exchange", exchange}, {"waits", waiting}}});
    }
}

}  // namespace

double NBody::most_pairs() const {
    return chosen_.check.index() == 0 ? report_pairs : std::numeric_limits<double>::infinity();
}

Report NBody::report() {
    const Bodies now = state_->download();
    device().check_stop("the reference in double precision");
    Report report{bodies_reading(), mass_reading(), error_reading(now), energy_reading(now)};
    report.push_back({"momentum_drift", "Momentum drift", drift_.momentum(now), "", 0.0,
                      Verdict::none,
                      files::sentence("Change of the total momentum since frame {}, divided by "
                                      "the sum of all |m v|.",
                                      drift_.begun_at())});
    report.push_back(rate_reading());
    if (auto sectors = sectors_reading()) report.push_back(std::move(*sectors));
    add_ranks(report, *state_);
    return report;
}

Reading NBody::bodies_reading() const {
    return {"bodies", "Bodies", double(state_->size()), "", {}, Verdict::none, origin_};
}

Reading NBody::mass_reading() const {
    return {"total_mass",  "Total mass", total_mass(start_state_), "", {},
            Verdict::none, mass_origin_};
}

Reading NBody::error_reading(const Bodies& now) {
    if (!step_error_) {
        const StepReference reference =
            make_reference(now, eps(), most_pairs(), device().launch_limits().stop);
        step_error_ = check_step(device(), state_->kernel(), unsigned(chosen_.block), reference);
        step_error_frame_ = frame();
    }
    const StepError& error = *step_error_;
    const files::Sentence which =
        error.checked == error.bodies
            ? files::sentence("all {} bodies", compute::grouped(double(error.bodies)))
            : files::sentence("{} of {} bodies (choose check \"all\" for every body)",
                              compute::grouped(double(error.checked)),
                              compute::grouped(double(error.bodies)));
    const auto digits = [](double number) { return fmt::format("{:.2g}", number); };
    files::Sentence sentence = files::sentence(
        "One step from frame {} compared with double precision, for {}: error {} (limit {}); the "
        "largest error of one body is {} of the forces on it (limit {}).",
        step_error_frame_, which, digits(error.relative), digits(error.tolerance),
        digits(error.worst), digits(error.worst_tolerance));
    if (!has_all_barriers(state_->kernel())) sentence.add(barriers_sentence(error.passed()));
    const Verdict verdict = verdict_of(device(), state_->kernel(), error);
    return {"relative_error", "Relative error",   error.relative, "", 0.0,
            verdict,          std::move(sentence)};
}

files::Sentence NBody::barriers_sentence(bool passed) const {
    if (has_copies(state_->kernel()))
        return passed ? files::sentence(
                            "That proves nothing: without the wait nothing orders the "
                            "copies of a tile and its reads.")
                      : files::sentence(
                            "Without the wait, threads read bodies that the copies have "
                            "not brought yet.");
    std::vector<int> lines = barrier_lines(device().source("kernels/nbody.cu"), "tiled_without");
    // An edit may have fewer barriers; then all of its lines are named.
    if (lines.size() == 2 && chosen_.load_barrier != chosen_.reuse_barrier)
        lines.erase(chosen_.load_barrier ? lines.begin() : lines.end() - 1);
    const files::Sentence where = place("nbody", lines);
    if (passed)
        return files::sentence(
            "That proves nothing: without __syncthreads() at {} nothing orders the loads of a tile "
            "and its reads.",
            where);
    return files::sentence(chosen_.load_barrier
                               ? files::Form<1>("Without __syncthreads() at {} warps load the next "
                                                "bodies over those that other warps still read.")
                               : files::Form<1>("Without __syncthreads() at {} warps read bodies "
                                                "that other warps have not loaded yet."),
                           where);
}

std::optional<Reading> NBody::sectors_reading() const {
    if (!chosen_.tile.matters()) return {};
    const double sectors = chosen_.sectors_per_interaction(
        chosen_.tile, double(state_->ranks().front().share().count));
    return Reading{"sectors_per_interaction",
                   "Sectors per interaction",
                   sectors,
                   "",
                   {},
                   Verdict::none,
                   files::sentence("Sectors of global memory that the loop over the bodies reads, "
                                   "for each interaction.")
                       .add(chosen_.tile_note())};
}

Reading NBody::energy_reading(const Bodies& now) {
    const double n = double(now.size());
    const auto sample = std::size_t(std::min(n, most_pairs() / n));
    const double drift = drift_.energy(now, frame(), sample, device().launch_limits().stop);
    // More than all of it is no physics of these bodies, whatever each step has computed.
    const bool is_lost = std::abs(drift) > 1;
    files::Sentence sentence;
    if (is_lost) sentence = files::sentence("The steps are too large for these bodies.");
    sentence
        .add(files::sentence(
            "Change of the total energy from frame {} to frame {}, relative to its magnitude.",
            drift_.begun_at(), drift_.energy_frame()))
        .add(files::sentence("Smaller steps or more softening reduce it."));
    if (drift_.sample() < now.size())
        sentence.add(
            files::sentence("Estimated from {} of {} bodies, evenly spaced, and from all "
                            "heavy ones (choose check \"all\" for every body).",
                            compute::grouped(double(drift_.sample())), compute::grouped(n)));
    return {"energy_drift",
            "Energy drift",
            drift,
            "",
            0.0,
            is_lost ? Verdict::unproven : Verdict::none,
            std::move(sentence)};
}

Reading NBody::rate_reading() {
    const double n = double(state_->size());
    const double ms = step_ms(device(), *state_, compute::KernelTiming::window);
    return {"interactions_per_second",
            "Interactions",
            ms > 0 ? n * n / ms * 1e3 : 0,
            "1/s",
            {},
            Verdict::none,
            files::sentence(
                device().info().kind == compute::DeviceKind::emulator
                    ? files::Form<1>("Emulated time of {}: the median of the newest launches.")
                    : files::Form<1>("GPU time of {}: the median of the newest launches."),
                fmt::format("{}", fmt::join(state_->launches(), " and ")))};
}

/// A row without its words.
Comparison::Row NBody::measured(const std::function<NBodyState(const Bodies&)>& make,
                                const StepReference& reference, const Bodies& now) {
    const auto block = unsigned(chosen_.block);
    NBodyState checked = make(reference.bodies);
    const NBodyKernel kernel = checked.kernel();
    const double own_pairs = checked.ranks().front().interactions();
    StepError error;
    const auto counts = count_work(device(), std::max(own_pairs, 1.0), [&] {
        error = check_step(std::move(checked), block, reference);
    });
    NBodyState scratch = make(now);
    const std::size_t launches = launches_to_time(device(), step_ms(device(), scratch, 1));
    for (std::size_t i = 0; i < launches; ++i) scratch.step(block, float(chosen_.dt), eps());
    const double ms = step_ms(device(), scratch, launches);
    const double pairs = double(now.size()) * double(now.size());
    return {.median_ms = ms,
            .rate = ms > 0 ? pairs / ms * 1e3 : 0,
            .error = error.relative,
            .verdict = verdict_of(device(), kernel, error),
            .counts = counts};
}

Comparison::Row NBody::compared(NBodyKernel kernel, const StepReference& reference,
                                const Bodies& now) {
    const auto make = [&](const Bodies& bodies) { return NBodyState(device(), kernel, bodies); };
    Comparison::Row row = measured(make, reference, now);
    const Row& words = comparison_rows[std::size_t(kernel)];
    row.id = words.id;
    row.label = words.label;
    if (on_gpu(device())) row.published = words.published;
    return row;
}

/// Adds a row for the chosen kernel on one rank.
void NBody::compare_with_one(Comparison& comparison, const StepReference& reference,
                             const Bodies& now) {
    const NBodyKernel kernel = chosen_.kernel;
    const auto make = [&](const Bodies& bodies) {
        return NBodyState::on_one(device(), kernel, bodies);
    };
    Comparison::Row one = measured(make, reference, now);
    const Row& words = comparison_rows[std::size_t(kernel)];
    one.id = fmt::format("{}_on_one", words.id);
    one.label = files::sentence("{} on one rank", words.id);
    const double all_ms = comparison.rows[std::size_t(kernel)].median_ms;
    comparison.scaling = fmt::format(
        "{}: {} ranks take {:.4g} ms a step, one of them alone {:.4g} ms: {:.2f}x as fast.",
        words.id, state_->exchange()->ranks(), all_ms, one.median_ms,
        all_ms > 0 ? one.median_ms / all_ms : 0);
    comparison.rows.push_back(std::move(one));
    // The rate is the median over past launches, which were larger.
    device().synchronize();
    device().timings().clear();
}

std::optional<Comparison> NBody::compare() {
    const WaitForCompiler wait(device());
    const Bodies now = state_->download();
    const StepReference reference =
        make_reference(now, eps(), most_pairs(), device().launch_limits().stop);
    Comparison comparison{
        .title = "The n-body kernels; each makes one change to the one before",
        .rate_unit = "interactions/s",
        .element = "interaction",
        .published_title = on_gpu(device()) ? "time in the tutorial that these kernels come from "
                                              "(it names neither the bodies nor the GPU)"
                                            : ""};
    const int capability = device().info().compute_capability;
    for (const NBodyKernel kernel : all_nbody_kernels)
        if (!on_gpu(device()) || capability >= capability_for(kernel))
            comparison.rows.push_back(compared(kernel, reference, now));
    if (state_->exchange()) compare_with_one(comparison, reference, now);
    return comparison;
}

}  // namespace warpscope::experiments
