#include "experiments/dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/block_trace.h"
#include "compute/emulated_device.h"
#include "experiments/metadata.h"

namespace warpscope::experiments {
namespace {

constexpr unsigned max_blocks = 32;  // as in the book
constexpr std::int64_t book_n = 33 * 1024;
constexpr std::int64_t max_n = std::int64_t(1) << 28;
constexpr std::int64_t max_traced_n = std::int64_t(1) << 22;

const std::vector<Choice::Word> variants{
    {"book", "both barriers"},
    {"no_first_barrier", "no first barrier"},
    {"no_loop_barrier", "no barrier in the loop"},
    {"no_barriers", "no barriers"},
    {"divergent", "barrier inside the if"},
    {"divergent_bounded", "the same, others alive"},
};

/// Lines of kernels/dot.cu with the barriers that a variant lacks or has inside the `if`.
const std::vector<std::string> barrier_lines{"dot.cu:30 and 38", "dot.cu:30", "dot.cu:38",
                                             "dot.cu:30 and 38", "dot.cu:79", "dot.cu:109"};

constexpr std::int64_t usual_hold = 2'000;

/// The device, where sentences say what its barriers did.
std::string barriers_of(const compute::Device& device) {
    if (device.info().kind != compute::DeviceKind::emulator) return device.info().name;
    return fmt::format("the emulator, with {} barriers", word(device.settings().barriers));
}

std::string kernel_name(std::size_t variant) {
    return "dot_" + variants[variant].id;
}

}  // namespace

Dot::Inputs::Inputs(compute::Device& device, std::int64_t n)
    : a(device, std::size_t(n)), b(device, std::size_t(n)) {
    constexpr std::int64_t chunk = 1 << 20;
    std::vector<float> i_as_float, twice;
    unsigned __int128 sum = 0;
    for (std::int64_t begin = 0; begin < n; begin += chunk) {
        const std::int64_t count = std::min(chunk, n - begin);
        i_as_float.resize(std::size_t(count));
        twice.resize(std::size_t(count));
        for (std::int64_t i = 0; i < count; ++i) {
            const float value = float(begin + i);
            i_as_float[std::size_t(i)] = value;
            twice[std::size_t(i)] = 2 * value;  // exact
            const auto whole = static_cast<unsigned long long>(value);
            sum += static_cast<unsigned __int128>(whole) * whole * 2;
        }
        const std::size_t bytes = std::size_t(count) * sizeof(float);
        device.upload((a.pointer() + std::size_t(begin)).address, i_as_float.data(), bytes);
        device.upload((b.pointer() + std::size_t(begin)).address, twice.data(), bytes);
    }
    exact = double(sum);
}

Dot::Results::Results(compute::Device& device, std::size_t window)
    : partials(device, window * max_blocks), waited(device, max_blocks) {
    partials.fill(0);
    waited.fill(0);
}

Dot::Dot(compute::Device& device)
    : Experiment(device),
      kernel_(declare(), "kernel", "Kernel", "Where the barriers are.", variants),
      n_(declare(), "n", "Elements", "Length of the vectors.", book_n, 1, max_n),
      block_(declare(), "block", "Block", "Threads of a block; at most 32 blocks run.", 256, 1,
             1024),
      launches_(declare(), "launches", "Launches",
                "Newest launches that wrong ones are counted in.", 20, 1, 1000),
      hold_(declare(), "hold", "Hold",
            "Clocks that a thread which skips the barrier lives on, in divergent_bounded.",
            usual_hold, 0, 10'000'000),
      bounded_sum_(device.kernel<Floats, Floats, Floats, unsigned, long long, Clocks>(
          "dot", kernel_name(std::size_t(Variant::divergent_bounded)))),
      cleaner_(device) {
    for (std::size_t i = 0; i < std::size_t(Variant::divergent_bounded); ++i)
        sums_.push_back(device.kernel<Floats, Floats, Floats, unsigned>("dot", kernel_name(i)));
    inputs_.emplace(device, n_);
    results_.emplace(device, std::size_t(launches_));
}

void Dot::changed(std::span<Parameter* const> which) {
    const auto among = [&](const Parameter& parameter) {
        return std::find(which.begin(), which.end(), &parameter) != which.end();
    };
    Results results(device(), std::size_t(launches_));
    if (among(n_)) {
        require_memory(device(), n_, 2 * sizeof(float));
        inputs_ = Inputs(device(), n_);
    }
    results_ = std::move(results);
    tree_.reset();
    begun_frame_.reset();
}

void Dot::launch_kernel() {
    launch_next(frame());
}

void Dot::do_step() {
    launch_next(frame() + 1);
}

void Dot::do_reset() {
    results_->launches = 0;
    begun_frame_.reset();
}

compute::Shape Dot::shape() const {
    const unsigned block = unsigned(block_);
    const auto blocks = unsigned(std::min<std::int64_t>(max_blocks, (n_ + block - 1) / block));
    return {.grid = {blocks}, .block = {block}};
}

double Dot::error_bound() const {
    // A product enters its thread's sum with one rounding and goes through one more for each
    // product after it (fma), then through the tree. The host adds in double. For 33*1024 elements
    // this is 8e-7 of the sum: less than any one of the last nine tenths of the elements gives.
    const compute::Shape launch = shape();
    const double threads = double(launch.grid.x) * launch.block.x;
    return float_error_bound(std::ceil(double(n_) / threads) + tree_steps(launch.block.x));
}

double Dot::relative_error(double value) const {
    const double error = std::abs(value - inputs_->exact);
    return inputs_->exact == 0 ? error : error / inputs_->exact;
}

void Dot::launch(Variant variant, const Results& results, std::size_t slot, std::int64_t hold) {
    const Floats partials = results.partials.pointer() + slot * max_blocks;
    const double n = double(n_);
    const compute::Work work{.bytes = 8 * n, .flops = 2 * n};
    if (variant == Variant::divergent_bounded)
        device().launch(bounded_sum_, shape(), work, inputs_->a.pointer(), inputs_->b.pointer(),
                        partials, unsigned(n_), hold, results.waited.pointer());
    else
        device().launch(sums_[std::size_t(variant)], shape(), work, inputs_->a.pointer(),
                        inputs_->b.pointer(), partials, unsigned(n_));
}

void Dot::launch_next(std::uint64_t frame) {
    if (begun_frame_ != frame) device().begin_frame(frame);
    begun_frame_ = frame;
    if (kernel_.as<Variant>() != Variant::book) cleaner_.launch();
    launch(kernel_.as<Variant>(), *results_,
           std::size_t(results_->launches) % std::size_t(launches_), hold_);
    ++results_->launches;
}

double Dot::sum_of(std::span<const float> partials, std::size_t slot) const {
    double sum = 0;
    for (unsigned i = 0; i < shape().grid.x; ++i) sum += double(partials[slot * max_blocks + i]);
    return sum;
}

Reading Dot::judge(double error, std::size_t wrong, std::size_t launches) const {
    Reading reading{"relative_error", "Relative error", error, "", 0.0, Verdict::finding, {}};
    const Variant variant = kernel_.as<Variant>();
    const std::string& lines = barrier_lines[kernel_.index()];
    if (variant == Variant::book) {
        reading.verdict = wrong == 0 ? Verdict::pass : Verdict::fail;
        reading.sentence = fmt::format(
            "{} of {} launches came out wrong by more than float rounding explains ({:.1e}).",
            wrong, launches, error_bound());
    } else if (variant == Variant::divergent || variant == Variant::divergent_bounded) {
        reading.sentence =
            wrong == 0 ? ended_sentence(variant, true)
                       : fmt::format(
                             "On {} {} of {} launches came out wrong: not every thread reaches "
                             "the barrier at {}.",
                             barriers_of(device()), wrong, launches, lines);
    } else if (wrong > 0) {
        reading.sentence = fmt::format(
            "{} of {} launches came out wrong: without __syncthreads() at {} the tree adds sums "
            "that other warps have not stored yet.",
            wrong, launches, lines);
    } else {
        reading.sentence = fmt::format(
            "No launch came out wrong this time. That proves nothing: without __syncthreads() at "
            "{} nothing orders the reads after the writes.",
            lines);
    }
    return reading;
}

std::string Dot::ended_sentence(Variant variant, bool right) const {
    const std::string how = fmt::format("On {} it ends, {}:", barriers_of(device()),
                                        right ? "with the right sum" : "with a wrong sum");
    const std::string& line = barrier_lines[std::size_t(variant)];
    if (variant == Variant::divergent_bounded)
        return fmt::format("{} the threads that skip the barrier at {} live on, but not for ever.",
                           how, line);
    return fmt::format(
        "{} the barrier at {} doesn't wait for threads that have ended. The book expects it to "
        "hang.",
        how, line);
}

Reading Dot::waited_reading(const Results& results, std::int64_t hold) const {
    const std::vector<long long> waited = results.waited.download();
    const long long longest = *std::max_element(waited.begin(), waited.begin() + shape().grid.x);
    Reading reading{"waited", "Waited at the barrier", double(longest), "clocks", {}, Verdict::none,
                    {}};
    const std::string measured = fmt::format(
        "Measured on {}: thread 0 spent {} clocks at its {} barriers", barriers_of(device()),
        grouped(std::uint64_t(longest)), tree_steps(unsigned(block_)));
    if (hold == 0)
        reading.sentence = measured + "; threads that skip one end at once.";
    else
        reading.sentence =
            fmt::format("{}; threads that skip one lived for {} clocks. {}", measured,
                        grouped(std::uint64_t(hold)),
                        longest >= hold ? "A barrier waits for every thread that has not ended."
                                        : "The barrier did not wait for them.");
    return reading;
}

std::optional<Report> Dot::measure_barriers() {
    const Results results(device(), 2);
    const std::int64_t hold = hold_ > 0 ? std::int64_t(hold_) : usual_hold;
    launch(Variant::divergent, results, 0, hold);
    launch(Variant::divergent_bounded, results, 1, hold);
    begun_frame_.reset();
    const std::vector<float> partials = results.partials.download();
    const double error = relative_error(sum_of(partials, 0));
    const bool right = error <= error_bound();
    Report report;
    report.push_back({"ended_threads", "Threads that have ended", error, "", 0.0, Verdict::finding,
                      ended_sentence(Variant::divergent, right)});
    report.push_back(waited_reading(results, hold));
    report.back().label = "Threads that live on";
    return report;
}

Report Dot::report() {
    const std::size_t window = std::size_t(launches_);
    while (results_->launches < window) launch_next(frame());
    const std::vector<float> partials = results_->partials.download();
    std::size_t wrong = 0;
    for (std::size_t slot = 0; slot < window; ++slot)
        wrong += !(relative_error(sum_of(partials, slot)) <= error_bound());
    const double value = sum_of(partials, std::size_t(results_->launches - 1) % window);

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
    if (kernel_.as<Variant>() == Variant::divergent_bounded)
        report.push_back(waited_reading(*results_, hold_));
    return report;
}

std::optional<Comparison> Dot::compare() {
    constexpr std::size_t launches = 9;
    Comparison comparison{"Kernels of the dot product", "B/s", "", {}};
    results_ = Results(device(), std::max(launches, std::size_t(launches_)));
    for (std::size_t variant = 0; variant < variants.size(); ++variant) {
        for (std::size_t i = 0; i < launches; ++i) {
            cleaner_.launch();
            launch(Variant(variant), *results_, i, hold_);
        }
        const double ms = newest_median_ms(device(), kernel_name(variant), launches);
        const std::vector<float> partials = results_->partials.download();
        double error = 0;
        for (std::size_t i = 0; i < launches; ++i) {
            const double one = relative_error(sum_of(partials, i));
            if (!(one <= error)) error = one;
        }
        const bool right = error <= error_bound();
        Verdict verdict = Verdict::finding;
        if (Variant(variant) == Variant::book) verdict = right ? Verdict::pass : Verdict::fail;
        comparison.rows.push_back({variants[variant].id,
                                   variants[variant].label,
                                   ms,
                                   ms > 0 ? 8.0 * double(n_) / (ms / 1000) : 0.0,
                                   error,
                                   verdict,
                                   {}});
    }
    results_ = Results(device(), std::size_t(launches_));
    begun_frame_.reset();
    return comparison;
}

Tree Dot::make_tree() {
    const auto emulator = compute::make_emulated_device("for the tree");
    emulator->set(device().settings());
    Dot traced(*emulator);
    const std::int64_t n = std::min<std::int64_t>(n_, max_traced_n);
    const std::vector<Assignment> same{{"kernel", kernel_.text()},
                                       {"n", std::to_string(n)},
                                       {"block", block_.text()},
                                       {"hold", hold_.text()}};
    traced.set(same);
    const auto snapshots = compute::trace_block(
        *emulator, 0, [&] { traced.launch(kernel_.as<Variant>(), *traced.results_, 0, hold_); });
    Tree tree;
    tree.rows = tree_rows(snapshots, std::size_t(block_));
    tree.title = fmt::format("cache[] of block 0, kernel {}, as the emulator runs it",
                             kernel_name(kernel_.index()));
    if (n != n_) tree.title += fmt::format(", n = {}", grouped(std::uint64_t(n)));
    if (tree.rows.empty()) tree.title += ": no barrier to show it at";
    return tree;
}

const Tree* Dot::tree() {
    if (!tree_) tree_ = make_tree();
    return &*tree_;
}

}  // namespace warpscope::experiments
