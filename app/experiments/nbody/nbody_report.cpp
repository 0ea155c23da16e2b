#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "experiments/framework/edited.h"
#include "experiments/framework/launch_times.h"
#include "experiments/nbody/nbody.h"

namespace warpscope::experiments {
namespace {

/// Pairs in double precision that a report may cost without being asked for more: some seconds on
/// two cores, and once only.
constexpr double report_pairs = 65536.0 * 65536.0;

struct Row {
    std::string_view id, label;
    std::string_view published;  ///< the seed's own time
};
constexpr Row comparison_rows[] = {{"float3", "float3, global memory", "3383.6 ms"},
                                   {"float4", "float4, global memory", "3738.6 ms"},
                                   {"tiled", "float4, tiles in shared memory", "3198.6 ms"},
                                   {"rsqrt", "and 1 / sqrt in one instruction", ""},
                                   {"unrolled", "and 16 bodies a turn of the loop", ""},
                                   {"several", "and 4 bodies a thread", ""},
                                   {"fast", "and the sum dealt to more blocks", ""}};

/// What the launches of one step take, each as the median of its newest `launches`.
double step_ms(compute::Device& device, const NBodyState& state, std::size_t launches) {
    double ms = 0;
    for (const std::string_view kernel : state.launches())
        ms += newest_median_ms(device, kernel, launches);
    return ms;
}

Verdict verdict_of(const compute::Device& device, NBodyKernel kernel, const StepError& error) {
    return judged(device, file_of(kernel), error.passed());
}

}  // namespace

double NBody::most_pairs() const {
    return chosen_.check.index() == 0 ? report_pairs : std::numeric_limits<double>::infinity();
}

Report NBody::report() {
    const Bodies now = state_->download();
    Report report{bodies_reading(), error_reading(now)};
    if (0.5 * double(now.size()) * double(now.size()) <= most_pairs())
        report.push_back(energy_reading(now));
    report.push_back({"momentum_drift", "Momentum drift", drift_.momentum(now), "", 0.0,
                      Verdict::none,
                      fmt::format("Change of the total momentum since frame {}, over the sum of "
                                  "all |m v|.",
                                  drift_.begun_at())});
    report.push_back(rate_reading());
    return report;
}

Reading NBody::bodies_reading() const {
    return {"bodies", "Bodies", double(state_->size()), "", {}, Verdict::none, origin_};
}

Reading NBody::error_reading(const Bodies& now) {
    if (!step_error_) {
        const StepReference reference = make_reference(now, eps(), most_pairs());
        step_error_ = check_step(device(), state_->kernel(), unsigned(chosen_.block), reference);
        step_error_frame_ = frame();
    }
    const StepError& error = *step_error_;
    const std::string which = error.checked == error.bodies
                                  ? fmt::format("all {} bodies", grouped(error.bodies))
                                  : fmt::format("{} of {} bodies (check \"all\" takes every one)",
                                                grouped(error.checked), grouped(error.bodies));
    std::string sentence = fmt::format(
        "One step from frame {} against double precision, over {}: off by {:.2g}, rounding allows "
        "{:.2g}; the worst body is off by {:.2g} of the pulls on it, {:.2g} allowed.",
        step_error_frame_, which, error.relative, error.tolerance, error.worst,
        error.worst_tolerance);
    const Verdict verdict = verdict_of(device(), state_->kernel(), error);
    return {"relative_error", "Relative error",   error.relative, "", 0.0,
            verdict,          std::move(sentence)};
}

Reading NBody::energy_reading(const Bodies& now) {
    const double drift = drift_.energy(now, frame());
    return {"energy_drift",
            "Energy drift",
            drift,
            "",
            0.0,
            Verdict::none,
            fmt::format("Change of the total energy from frame {} to frame {}, over its size; "
                        "smaller steps or more softening lessen it.",
                        drift_.begun_at(), drift_.energy_frame())};
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
            fmt::format("{} time of {}, median of the newest launches.",
                        device().info().kind == compute::DeviceKind::emulator ? "Emulated" : "GPU",
                        fmt::join(state_->launches(), " and "))};
}

std::optional<Comparison> NBody::compare() {
    const Bodies now = state_->download();
    const StepReference reference = make_reference(now, eps(), most_pairs());
    const double pairs = double(now.size()) * double(now.size());
    Comparison comparison{"From global memory to all of the card, a change at a time",
                          "interactions/s",
                          "the seed's own (its bodies and card are not known)",
                          {}};
    for (NBodyKernel kernel : all_nbody_kernels) {
        const Row& row = comparison_rows[std::size_t(kernel)];
        const StepError error = check_step(device(), kernel, unsigned(chosen_.block), reference);
        NBodyState scratch(device(), kernel, now);
        const double first_ms = step_ms(device(), scratch, 1);
        const std::size_t launches = first_ms > 500 ? 1 : first_ms > 50 ? 5 : 15;
        for (std::size_t i = 0; i < launches; ++i)
            scratch.step(unsigned(chosen_.block), float(chosen_.dt), eps());
        const double ms = step_ms(device(), scratch, launches);
        comparison.rows.push_back(
            {std::string(row.id), std::string(row.label), ms, ms > 0 ? pairs / ms * 1e3 : 0,
             error.relative, verdict_of(device(), kernel, error), std::string(row.published)});
    }
    return comparison;
}

}  // namespace warpscope::experiments
