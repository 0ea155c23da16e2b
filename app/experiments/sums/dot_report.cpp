#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/device/enum_words.h"
#include "compute/device/quantity.h"
#include "compute/libraries/cublas.h"
#include "experiments/framework/barrier_lines.h"
#include "experiments/framework/edited.h"
#include "experiments/measure/launch_times.h"
#include "experiments/measure/wait_for_compiler.h"
#include "experiments/sums/dot.h"
#include "experiments/sums/error_bounds.h"

namespace warpscope::experiments {
namespace {

constexpr std::int64_t usual_hold = 2'000;

/// The device, or the emulator's rules, at the start of a sentence about barriers.
std::string barriers_of(const compute::Device& device) {
    if (device.info().kind != compute::DeviceKind::emulator) return "On " + device.info().name;
    switch (device.settings().barriers) {
        case compute::BarrierPolicy::volta:
            return "Under Volta rules";
        case compute::BarrierPolicy::before_volta:
            return "Under the rules before Volta";
        case compute::BarrierPolicy::strict:
            return "Under strict PTX rules";
    }
    return {};
}

}  // namespace

double Dot::sum_of(Variant variant, std::span<const float> partials, std::size_t slot) const {
    const std::size_t count = variant == Variant::single_pass ? 1 : shape(variant).grid.x;
    double sum = 0;
    for (const float partial : partials.subspan(slot * results_->slot_size, count))
        sum += double(partial);
    return sum;
}

std::string Dot::barriers_place(Variant variant) const {
    const bool lacks = variant == Variant::no_first_barrier ||
                       variant == Variant::no_loop_barrier || variant == Variant::no_barriers;
    const std::string function = lacks ? "dot_without" : kernel_name(variant);
    std::vector<int> lines = barrier_lines(device().source("kernels/dot.cu"), function);
    const bool both = variant == Variant::book || variant == Variant::no_barriers;
    // An edit may have fewer barriers; then all of its lines are named.
    if (lines.size() == 2 && !both)
        lines.erase(variant == Variant::no_first_barrier ? lines.end() - 1 : lines.begin());
    return place("dot", lines);
}

Reading Dot::judge(double error, std::size_t wrong, std::size_t launches) const {
    Reading reading{"relative_error", "Relative error", error, "", 0.0, Verdict::finding, {}};
    const Variant variant = chosen_.kernel;
    if (synchronized(variant)) {
        reading.verdict = judged(device(), Parameters::file_of(variant), wrong == 0);
        reading.sentence = fmt::format(
            "In {} of {} launches the result was wrong by more than float rounding explains "
            "({:.1e}).",
            wrong, launches, error_bound(variant));
        return reading;
    }
    if (wrong == 0) reading.verdict = Verdict::unproven;
    const std::string lines = barriers_place(variant);
    if (variant == Variant::divergent || variant == Variant::divergent_bounded) {
        reading.sentence = wrong == 0
                               ? ended_sentence(variant, true)
                               : fmt::format(
                                     "{}, {} of {} launches gave a wrong sum: not every thread "
                                     "reaches the barrier at {}.",
                                     barriers_of(device()), wrong, launches, lines);
    } else if (wrong > 0) {
        reading.sentence = fmt::format(
            "{} of {} launches gave a wrong sum: without __syncthreads() at {} the tree adds sums "
            "that other warps have not stored yet.",
            wrong, launches, lines);
    } else {
        reading.sentence = fmt::format(
            "No launch gave a wrong sum this time. That proves nothing: without __syncthreads() at "
            "{} nothing orders the reads after the writes.",
            lines);
    }
    return reading;
}

std::string Dot::ended_sentence(Variant variant, bool right) const {
    const std::string how = fmt::format("{} the kernel finishes, {}.", barriers_of(device()),
                                        right ? "with the right sum" : "with a wrong sum");
    const std::string line = barriers_place(variant);
    if (variant == Variant::divergent_bounded)
        return fmt::format(
            "{} The threads that skip the barrier at {} continue for a limited time.", how, line);
    return fmt::format(
        "{} The barrier at {} does not wait for threads that have ended. CUDA by Example says that "
        "the kernel hangs.",
        how, line);
}

Reading Dot::waited_reading(const Results& results, std::size_t slot, std::int64_t hold) const {
    const std::vector<long long> waited = results.waited.download();
    const long long* const of_launch = waited.data() + slot * max_blocks;
    const long long longest =
        *std::max_element(of_launch, of_launch + shape(Variant::divergent_bounded).grid.x);
    Reading reading{"waited", "Wait at the barriers", double(longest), "clocks", {}, Verdict::none,
                    {}};
    const std::string measured =
        fmt::format("{}, thread 0 spent {} clocks at its {} barriers", barriers_of(device()),
                    compute::grouped(double(longest)), tree_steps(unsigned(chosen_.block)));
    const bool by_warp = device().info().kind == compute::DeviceKind::emulator &&
                         device().settings().barriers == compute::BarrierPolicy::before_volta;
    if (hold == 0)
        reading.sentence = measured + ". Threads that skip a barrier end at once.";
    else
        reading.sentence =
            fmt::format("{}. Threads that skip a barrier continued for {} clocks. {}", measured,
                        compute::grouped(double(hold)),
                        longest < hold ? "The barrier did not wait for them."
                        : by_warp      ? "A barrier waits for every warp that has not ended."
                                       : "A barrier waits for every thread that has not ended.");
    return reading;
}

std::optional<Report> Dot::measure_barriers() {
    break_frame();
    device().begin_frame(frame());
    const Results results = make_results(2);
    const std::int64_t hold = chosen_.hold > 0 ? std::int64_t(chosen_.hold) : usual_hold;
    launch(Variant::divergent, results, 0, hold);
    launch(Variant::divergent_bounded, results, 1, hold);
    const std::vector<float> partials = results.partials.download();
    const double error = relative_error(sum_of(Variant::divergent, partials, 0));
    const bool right = error <= error_bound(Variant::divergent);
    Report report;
    report.push_back({"ended_threads", "Threads that have ended", error, "", 0.0,
                      right ? Verdict::unproven : Verdict::finding,
                      ended_sentence(Variant::divergent, right)});
    report.push_back(waited_reading(results, 1, hold));
    report.back().label = "Threads that continue";
    return report;
}

Report Dot::report() {
    const Variant variant = chosen_.kernel;
    const std::size_t window = std::size_t(chosen_.launches);
    while (results_->launches < window) launch_next(frame());
    const std::vector<float> partials = results_->partials.download();
    std::size_t wrong = 0;
    double value = 0;  // the value of the newest launch
    for (std::uint64_t i = results_->launches - window; i < results_->launches; ++i) {
        value = sum_of(variant, partials, std::size_t(i) % slots());
        wrong += !(relative_error(value) <= error_bound(variant));
    }

    Report report;
    report.push_back({"value", "Value", value, "", inputs_->exact, Verdict::none, {}});
    report.push_back({"exact", "Exact value", inputs_->exact, "", {}, Verdict::none, {}});
    report.push_back(judge(relative_error(value), wrong, window));
    report.push_back({"wrong_launches",
                      fmt::format("Wrong of {} launches", window),
                      double(wrong),
                      "",
                      0.0,
                      report.back().verdict,
                      {}});
    if (variant == Variant::divergent_bounded)
        report.push_back(
            waited_reading(*results_, std::size_t(results_->launches - 1) % slots(), chosen_.hold));
    return report;
}

Comparison::Row Dot::compare(Variant variant, const Results& results, ColdRuns& cold) {
    const ColdRuns::Times times =
        cold.measure(kernel_name(variant), double(chosen_.n), [&](std::size_t run) {
            if (!synchronized(variant)) cleaner_.launch();
            launch(variant, results, run, chosen_.hold);
        });
    const std::vector<float> partials = results.partials.download();
    double error = 0;
    for (std::size_t i = 0; i < times.runs; ++i) {
        const double one = relative_error(sum_of(variant, partials, i));
        if (!(one <= error)) error = one;
    }
    const bool right = error <= error_bound(variant);
    Verdict verdict = right ? Verdict::unproven : Verdict::finding;
    if (synchronized(variant)) verdict = judged(device(), Parameters::file_of(variant), right);
    const Choice::Word& word = chosen_.kernel.words()[std::size_t(variant)];
    return times.row(word.id, word.label, bytes(), error, verdict);
}

std::optional<Comparison::Row> Dot::compare_library(ColdRuns& cold) {
    const auto cublas = compute::Cublas::load(device());
    if (!cublas) return {};
    compute::Buffer<float> result(device(), 1);
    const ColdRuns::Times times =
        cold.measure(compute::Cublas::dot_name, double(chosen_.n), [&](std::size_t) {
            cublas->dot(inputs_->a.pointer(), inputs_->b.pointer(), std::size_t(chosen_.n),
                        result.pointer());
        });
    const double error = relative_error(double(result.download()[0]));
    const bool right = error <= library_error_bound(device(), chosen_.n);
    return times.row("cublas", "cuBLAS Sdot", bytes(), error,
                     right ? Verdict::pass : Verdict::fail);
}

std::optional<Comparison> Dot::compare() {
    const WaitForCompiler wait(device());
    Comparison comparison{.title = "Kernels of the dot product, vectors read from memory",
                          .rate_unit = "B/s",
                          .element = "element",
                          .published_title = ""};
    break_frame();
    device().begin_frame(frame());
    const Results results = make_results(most_launches);
    ColdRuns cold(device());
    for (std::size_t variant = 0; variant < chosen_.kernel.words().size(); ++variant)
        comparison.rows.push_back(compare(Variant(variant), results, cold));
    if (auto library = compare_library(cold)) comparison.rows.push_back(std::move(*library));
    return comparison;
}

}  // namespace warpscope::experiments
