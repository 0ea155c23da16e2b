#include "experiments/sums/dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/device/enum_words.h"
#include "compute/device/number_text.h"
#include "compute/emulated/shared_memory_trace.h"
#include "compute/libraries/compared_libraries.h"
#include "experiments/framework/cuda_source.h"
#include "experiments/framework/experiment.h"
#include "experiments/measure/compared_kernels.h"
#include "experiments/sums/sums.h"

namespace warpscope::experiments {

DotParameters::DotParameters()
    : kernel(
          *this, "kernel", "Kernel",
          "The first six kernels have the barriers of CUDA by Example, lack some of them, or have "
          "one inside the if. From \"shuffle\" on, each kernel makes one change to the one before: "
          "the lanes of a warp add with shuffles; each load reads 16 bytes, and the blocks fill "
          "the GPU; the block that ends last adds the partial sums.",
          {{"book", "both barriers"},
           {"no_first_barrier", "no first barrier"},
           {"no_loop_barrier", "no barrier in the loop"},
           {"no_barriers", "no barriers"},
           {"divergent", "barrier inside the if"},
           {"divergent_bounded", "barrier inside the if, other threads still run"},
           {"shuffle", "warp shuffle"},
           {"vectorized", "float4 loads, GPU-sized grid"},
           {"single_pass", "single pass (last block adds the partial sums)"}}),
      n(*this, "n", "Elements", "Length of the vectors.", 33 * 1024, 1, std::int64_t(1) << 28),
      block(
          *this, "block", "Block",
          "Threads in each block. At most 32 blocks run. The last two kernels use more blocks, and "
          "their blocks consist of whole warps.",
          256, 1, 1024),
      launches(*this, "launches", "Last launches",
               "Statistics over the last N launches: how many gave a wrong result.", 20, 1, 1000),
      hold(*this, "hold", "Hold",
           "For divergent_bounded: how long a thread that skips the barrier continues, in clocks.",
           2'000, 0, 10'000'000) {
    hold.only_when([this] { return kernel == Variant::divergent_bounded; });
    group("Kernel", {&kernel, &n, &block});
    group("Statistics", {&launches}, "Statistics of the last launches.");
    group("Race laboratory", {&hold});
}

double DotParameters::seconds_of_inputs() const {
    return 12e-9 * double(n);
}

double DotParameters::work() const {
    const double element = kernel >= Variant::vectorized ? 5.4 : 9.8;
    // In each of 32 blocks a warp waits at every step of the tree.
    constexpr double waiting = 32 * 32 * 10;
    const double held = kernel == Variant::divergent_bounded ? waiting * double(hold) : 0;
    return double(n) * element + held;
}

/// The variant "book" runs a kernel without these conditions.
bool DotParameters::has_barrier_if(std::string_view name) const {
    if (name == "first_barrier") return kernel == Variant::no_loop_barrier;
    if (name == "loop_barrier") return kernel == Variant::no_first_barrier;
    return true;
}

namespace {

constexpr std::int64_t max_traced_n = std::int64_t(1) << 22;

/// Threads on each multiprocessor for the kernels from `vectorized` on. This number was the fastest
/// on an H200. For long vectors, later blocks balance the load of the first ones.
constexpr std::int64_t long_n = std::int64_t(1) << 26;
constexpr unsigned busy_dot_threads = 1024, busy_dot_threads_long = 16384;

}  // namespace

Dot::Inputs::Inputs(compute::Device& device, std::int64_t n)
    : a(device, std::size_t(n)), b(device, std::size_t(n)) {
    constexpr std::int64_t chunk = 1 << 20;
    std::vector<float> i_as_float, twice;
    unsigned __int128 sum = 0;
    for (std::int64_t begin = 0; begin < n; begin += chunk) {
        device.check_stop("the vectors");
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

Dot::Results::Results(compute::Device& device, std::size_t slots, std::size_t most_blocks)
    : slot_size(most_blocks),
      partials(device, slots * most_blocks),
      waited(device, slots * max_blocks),
      block_sums(device, most_blocks),
      ticket(device, 1) {
    partials.fill(0);
    waited.fill(0);
    ticket.fill(0);
}

Dot::Dot(compute::Device& device)
    : Experiment(device),
      bounded_sum_(device.kernel<Floats, Floats, Floats, unsigned, long long, Clocks>(
          Parameters::file_of(Variant::divergent_bounded),
          kernel_name(Variant::divergent_bounded))),
      whole_sum_(device.kernel<Floats, Floats, Floats, unsigned, Floats, Ticket>(
          Parameters::file_of(Variant::single_pass), kernel_name(Variant::single_pass))),
      cleaner_(device) {
    for (std::size_t i = 0; i < std::size_t(Variant::single_pass); ++i) {
        sums_.emplace_back();
        if (Variant(i) != Variant::divergent_bounded)
            sums_[i] = device.kernel<Floats, Floats, Floats, unsigned>(
                Parameters::file_of(Variant(i)), kernel_name(Variant(i)));
    }
    inputs_.emplace(device, chosen_.n);
    results_.emplace(make_results(slots()));
}

void Dot::changed(std::span<Parameter* const> which) {
    Results results = make_results(slots());
    if (any_of(which, {&chosen_.n})) {
        require_memory(device(), chosen_.n, 2 * sizeof(float));
        inputs_ = Inputs(device(), chosen_.n);
    }
    results_ = std::move(results);
    tree_.reset();
    begun_frame_.reset();
}

void Dot::launch_kernel() {
    launch_next(frame());
}

std::vector<KnownResult> Dot::known_results() {
    if (chosen_.kernel >= Variant::vectorized || results_->launches == 0) return {};
    const compute::LaunchShape launch = shape(chosen_.kernel);
    const std::size_t slot = std::size_t(results_->launches - 1) % slots();
    return {{.name = "partial sum",
             .address = (results_->partials.pointer() + slot * results_->slot_size).address,
             .type = launches::parse_element_type("float"),
             .shape = {launch.grid.x},
             .relative = error_bound(chosen_.kernel),
             .right = [this, launch] {
                 std::vector<double> sums(launch.grid.x);
                 for (std::int64_t i = 0; i < chosen_.n; ++i) {
                     const double a = double(float(i));
                     sums[std::size_t(i) / launch.block.x % sums.size()] += 2 * a * a;
                 }
                 return launches::reals(sums);
             }}};
}

void Dot::do_step() {
    launch_next(frame() + 1);
}

void Dot::do_reset() {
    break_frame();
    results_->launches = 0;
}

std::string Dot::kernel_name(Variant variant) const {
    return "dot_" + chosen_.kernel.words()[std::size_t(variant)].id;
}

bool Dot::synchronized(Variant variant) {
    return variant == Variant::book || variant >= Variant::shuffle;
}

GpuSizedGrid Dot::gpu_sized_grid() const {
    return {device().info(), chosen_.n, unsigned(chosen_.block),
            chosen_.n < long_n ? busy_dot_threads : busy_dot_threads_long};
}

Dot::Results Dot::make_results(std::size_t slots) {
    return {device(), slots, std::max(max_blocks, gpu_sized_grid().blocks)};
}

compute::LaunchShape Dot::shape(Variant variant) const {
    const unsigned block = unsigned(chosen_.block);
    if (variant >= Variant::vectorized) return gpu_sized_grid().shape();
    const auto blocks =
        unsigned(std::min<std::int64_t>(max_blocks, (chosen_.n + block - 1) / block));
    return {.grid = {blocks}, .block = {block}};
}

double Dot::error_bound(Variant variant) const {
    if (variant >= Variant::vectorized) {
        // A product is rounded once before the additions.
        const GpuSizedGrid grid = gpu_sized_grid();
        return float_error_bound(1 + grid.additions +
                                 (variant == Variant::single_pass ? grid.last_additions : 0));
    }
    // A product enters its thread's sum with one rounding and goes through one more for each
    // product after it (fma), then through the tree. The host adds in double. For 33*1024 elements
    // this is 8e-7 of the sum: less than any one of the last nine tenths of the elements gives.
    const compute::LaunchShape launch = shape(variant);
    const double threads = double(launch.grid.x) * launch.block.x;
    const int steps = tree_steps(launch.block.x) + (variant == Variant::shuffle ? 1 : 0);
    return float_error_bound(std::ceil(double(chosen_.n) / threads) + steps);
}

double Dot::relative_error(double value) const {
    const double error = std::abs(value - inputs_->exact);
    return inputs_->exact == 0 ? error : error / inputs_->exact;
}

void Dot::launch(Variant variant, const Results& results, std::size_t slot, std::int64_t hold) {
    const Floats partials = results.partials.pointer() + slot * results.slot_size;
    const compute::Work work{.bytes = bytes(), .flops = 2 * double(chosen_.n)};
    if (variant == Variant::divergent_bounded)
        device().launch(bounded_sum_, shape(variant), work, inputs_->a.pointer(),
                        inputs_->b.pointer(), partials, unsigned(chosen_.n), hold,
                        results.waited.pointer() + slot * max_blocks);
    else if (variant == Variant::single_pass)
        device().launch(whole_sum_, shape(variant), work, inputs_->a.pointer(),
                        inputs_->b.pointer(), results.block_sums.pointer(), unsigned(chosen_.n),
                        partials, results.ticket.pointer());
    else
        device().launch(sums_[std::size_t(variant)], shape(variant), work, inputs_->a.pointer(),
                        inputs_->b.pointer(), partials, unsigned(chosen_.n));
}

void Dot::launch_next(std::uint64_t frame) {
    if (begun_frame_ != frame) {
        device().begin_frame(frame);
        results_->launches_before = results_->launches;
    }
    begun_frame_ = frame;
    try {
        // An edited kernel may race even if its name says that it has all barriers.
        if (!synchronized(chosen_.kernel) || edited(device(), kernel_file())) cleaner_.launch();
        launch(chosen_.kernel, *results_, std::size_t(results_->launches) % slots(), chosen_.hold);
    } catch (const compute::Cancelled&) {
        break_frame();
        throw;
    }
    ++results_->launches;
}

void Dot::break_frame() {
    const bool report_will_launch = results_->launches < std::uint64_t(chosen_.launches);
    if (begun_frame_ && report_will_launch) results_->launches = results_->launches_before;
    begun_frame_.reset();
    results_->ticket.fill(0);  // a launch that was stopped may have left another value
}

Tree Dot::make_tree() {
    const auto emulator = emulator_like(device(), "for the tree");
    Dot traced(*emulator);
    const std::int64_t n = std::min<std::int64_t>(chosen_.n, max_traced_n);
    const std::vector<Assignment> same{{"kernel", chosen_.kernel.text()},
                                       {"n", std::to_string(n)},
                                       {"block", chosen_.block.text()},
                                       {"hold", chosen_.hold.text()}};
    traced.set(same);
    const Variant variant = chosen_.kernel;
    const compute::SharedMemoryTrace trace = compute::trace_shared_memory(
        *emulator, 0, [&] { traced.launch(variant, *traced.results_, 0, chosen_.hold); });
    const bool by_warp = variant >= Variant::shuffle;
    Tree tree =
        sum_tree(trace, std::size_t(chosen_.block), by_warp ? "" : "cache[]", kernel_name(variant),
                 n != chosen_.n ? fmt::format("n = {}", compute::grouped(double(n))) : "");
    if (tree.rows.empty())
        tree.title = files::sentence("{}: no barrier, so there is nothing to show", tree.title);
    return tree;
}

const Tree* Dot::tree() {
    if (!tree_) tree_ = make_tree();
    return &*tree_;
}

namespace {

constexpr std::int64_t usual_hold = 2'000;

/// The device, or the emulator's rules, at the start of a sentence about barriers.
files::Sentence barriers_of(const compute::Device& device) {
    if (device.info().kind != compute::DeviceKind::emulator)
        return files::sentence("On {}", device.info().name);
    switch (device.settings().barriers) {
        case compute::BarrierPolicy::volta:
            return files::sentence("Under Volta rules");
        case compute::BarrierPolicy::before_volta:
            return files::sentence("Under the rules before Volta");
        case compute::BarrierPolicy::strict:
            return files::sentence("Under strict PTX rules");
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

files::Sentence Dot::barriers_place(Variant variant) const {
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
        reading.sentence = files::sentence(
            "In {} of {} launches the result was wrong by more than float rounding explains ({}).",
            wrong, launches, fmt::format("{:.1e}", error_bound(variant)));
        return reading;
    }
    if (wrong == 0) reading.verdict = Verdict::unproven;
    const files::Sentence lines = barriers_place(variant);
    if (variant == Variant::divergent || variant == Variant::divergent_bounded) {
        reading.sentence = wrong == 0
                               ? ended_sentence(variant, true)
                               : files::sentence(
                                     "{}, {} of {} launches gave a wrong sum: not every thread "
                                     "reaches the barrier at {}.",
                                     barriers_of(device()), wrong, launches, lines);
    } else if (wrong > 0) {
        reading.sentence = files::sentence(
            "{} of {} launches gave a wrong sum: without __syncthreads() at {} the tree adds sums "
            "that other warps have not stored yet.",
            wrong, launches, lines);
    } else {
        reading.sentence =
            files::sentence("No launch gave a wrong sum this time.")
                .add(files::sentence("That proves nothing: without {} nothing orders the reads "
                                     "after the writes.",
                                     files::sentence("__syncthreads() at {}", lines)));
    }
    return reading;
}

files::Sentence Dot::ended_sentence(Variant variant, bool right) const {
    const files::Sentence sum =
        right ? files::sentence("with the right sum") : files::sentence("with a wrong sum");
    const auto how = [&] {
        if (device().info().kind != compute::DeviceKind::emulator)
            return files::sentence("On {} the kernel finishes, {}.", device().info().name, sum);
        switch (device().settings().barriers) {
            case compute::BarrierPolicy::volta:
                return files::sentence("Under Volta rules the kernel finishes, {}.", sum);
            case compute::BarrierPolicy::before_volta:
                return files::sentence("Under the rules before Volta the kernel finishes, {}.",
                                       sum);
            default:
                return files::sentence("Under strict PTX rules the kernel finishes, {}.", sum);
        }
    };
    const files::Sentence line = barriers_place(variant);
    if (variant == Variant::divergent_bounded)
        return how().add(files::sentence(
            "The threads that skip the barrier at {} continue for a limited time.", line));
    return how()
        .add(files::sentence("The barrier at {} does not wait for threads that have ended.", line))
        .add(files::sentence("CUDA by Example says that the kernel hangs."));
}

Reading Dot::waited_reading(const Results& results, std::size_t slot, std::int64_t hold) const {
    const std::vector<long long> waited = results.waited.download();
    const long long* const of_launch = waited.data() + slot * max_blocks;
    const long long longest =
        *std::max_element(of_launch, of_launch + shape(Variant::divergent_bounded).grid.x);
    Reading reading{"waited", "Wait at the barriers", double(longest), "clocks", {}, Verdict::none,
                    {}};
    reading.sentence =
        files::sentence("{}, thread 0 spent {} clocks at its {} barriers.", barriers_of(device()),
                        compute::grouped(double(longest)), tree_steps(unsigned(chosen_.block)));
    const bool by_warp = device().info().kind == compute::DeviceKind::emulator &&
                         device().settings().barriers == compute::BarrierPolicy::before_volta;
    if (hold == 0)
        reading.sentence.add(files::sentence("Threads that skip a barrier end at once."));
    else
        reading.sentence
            .add(files::sentence("Threads that skip a barrier continued for {} clocks.",
                                 compute::grouped(double(hold))))
            .add(longest < hold ? files::sentence("The barrier did not wait for them.")
                 : by_warp
                     ? files::sentence("A barrier waits for every warp that has not ended.")
                     : files::sentence("A barrier waits for every thread that has not ended."));
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
    report.back().label = files::sentence("Threads that continue");
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
                      files::sentence("Wrong of {} launches", window),
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
