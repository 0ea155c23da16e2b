#include "experiments/ripple/ripple.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/device/kernel_files.h"
#include "compute/device/number_text.h"
#include "experiments/framework/cuda_source.h"
#include "experiments/framework/experiment.h"
#include "experiments/measure/compared_kernels.h"

namespace warpscope::experiments {
namespace {

constexpr unsigned tile = 16;

/// The warps that each word of the parameter `delayed` names, one bit for each warp.
constexpr unsigned delayed_warps[] = {0x01, 0x0f, 0xaa, 0xfe, 0xff};

compute::LaunchShape shape_of(std::int64_t size) {
    const unsigned tiles = unsigned((size + tile - 1) / tile);
    return {.grid = {tiles, tiles}, .block = {tile, tile}};
}

/// Whether the device can run the kernels of a layout. The emulator runs all.
bool can_run(const compute::DeviceInfo& device, std::size_t layout) {
    constexpr int with_clusters = 90;
    return layout != RippleParameters::cluster_layout || device.compute_capability == 0 ||
           device.compute_capability >= with_clusters;
}

/// The blocks of a cluster are two of a row.
compute::LaunchShape shape_of(std::int64_t size, std::size_t layout) {
    compute::LaunchShape shape = shape_of(size);
    if (layout == RippleParameters::cluster_layout) shape.grid.x += shape.grid.x % 2;
    return shape;
}

}  // namespace

Ripple::State::State(compute::Device& device, std::size_t pixels, std::size_t window)
    : shown(device, pixels),
      reference(device, pixels),
      other(device, pixels),
      wrong(device, window),
      stale(device, window),
      stale_mask(device, pixels),
      times(device, warps) {
    wrong.fill(0);
    stale.fill(0);
}

Ripple::Ripple(compute::Device& device)
    : Experiment(device),
      compare_(device.shipped_kernel<Pixels, Pixels, Pixels, Pixels, Mask, Pixels, int, int, int,
                                     Counter>("ripple_compare", "compare")),
      cleaner_(device) {
    for (const bool sync : {false, true})
        stamped_draws_[sync] = device.kernel<Pixels, int, int, float, int, Watch>(
            Parameters::file_of(Parameters::stamped_layout),
            chosen_.kernel_of(Parameters::stamped_layout, sync));
    state_.emplace(device, std::size_t(chosen_.size * chosen_.size), std::size_t(chosen_.window));
}

Size Ripple::picture_size(Size) const {
    return {int(chosen_.size), int(chosen_.size)};
}

void Ripple::changed(std::span<Parameter* const> which) {
    if (any_of(which, {&chosen_.size, &chosen_.window})) {
        state_ =
            State(device(), std::size_t(chosen_.size * chosen_.size), std::size_t(chosen_.window));
        scratch_ = {};
    }
    // After a change of speed the earlier counts are still comparable.
    if (any_of(which, {&chosen_.sync, &chosen_.view, &chosen_.pattern, &chosen_.layout,
                       &chosen_.delayed, &chosen_.delay, &chosen_.delay_before}))
        state_->launches = 0;
    rendered_frame_.reset();
}

bool Ripple::leaves_trace(std::span<Parameter* const> which) const {
    return any_of(which, {&chosen_.speed});
}

void Ripple::do_step() {
    // cos(d/10 - ticks/7) has a period of 14 pi; the fast cosine is exact only for small angles.
    ticks_ = std::fmod(ticks_ + chosen_.speed, 14.0 * std::numbers::pi);
}

void Ripple::do_reset() {
    ticks_ = 0;
    state_->launches = 0;
    rendered_frame_.reset();
}

Ripple::View Ripple::shown_view() const {
    const View view = chosen_.view;
    return view == View::stale && !chosen_.stamped() ? View::picture : view;
}

unsigned Ripple::warps_delayed_before(DelayBefore moment) const {
    const bool delayed = chosen_.delay > 0 && chosen_.delay_before == moment;
    return delayed ? delayed_warps[chosen_.delayed.index()] : 0;
}

compute::Dim3 Ripple::timed_block() const {
    const compute::Dim3 grid = shape_of(chosen_.size).grid;
    if (chosen_.timed_block < 0) return {grid.x / 2, grid.y / 2, 0};
    const auto block = unsigned(std::min<std::int64_t>(chosen_.timed_block, grid.count() - 1));
    return emulator::index_in(grid, block);
}

Ripple::Watch Ripple::watch() {
    const compute::Dim3 grid = shape_of(chosen_.size).grid;
    const Watch watch{.first_stamp = next_stamp_,
                      .late_writers = warps_delayed_before(DelayBefore::write),
                      .late_readers = warps_delayed_before(DelayBefore::read),
                      .delay = int(chosen_.delay),
                      .timed_block = emulator::linear_in(grid, timed_block()),
                      .stale_count = state_->stale.pointer() + state_->slot(),
                      .stale_mask = state_->stale_mask.pointer(),
                      .times = state_->times.pointer()};
    next_stamp_ += unsigned(grid.count());
    return watch;
}

const Ripple::Draw& Ripple::kernel(std::size_t layout, bool sync) {
    const auto found = draws_.find({layout, sync});
    if (found != draws_.end()) return found->second;
    if (!can_run(device().info(), layout))
        throw compute::DeviceError(
            fmt::format("clusters of blocks need a GPU of compute capability 9.0; this one has "
                        "{:.1f}: choose another tile",
                        device().info().compute_capability / 10.0));
    return draws_[{layout, sync}] = device().kernel<Pixels, int, int, float, int>(
               Parameters::file_of(layout), chosen_.kernel_of(layout, sync));
}

const Ripple::Draw& Ripple::reference_kernel(std::size_t layout) {
    const auto found = references_.find(layout);
    if (found != references_.end()) return found->second;
    return references_[layout] = device().shipped_kernel<Pixels, int, int, float, int>(
               Parameters::file_of(layout), chosen_.kernel_of(layout, true));
}

void Ripple::draw(const compute::Buffer<Rgba>& into, std::size_t layout, bool sync) {
    const int size = int(chosen_.size);
    const compute::LaunchShape shape = shape_of(size, layout);
    const int pattern = int(chosen_.pattern.index());
    const double pixels = double(size) * size;
    if (!sync || edited(device(), Parameters::file_of(layout))) cleaner_.launch();
    if (layout == Parameters::stamped_layout)
        device().launch(stamped_draws_[sync], shape, {.bytes = 5 * pixels}, into.pointer(), size,
                        size, float(ticks_), pattern, watch());
    else
        device().launch(kernel(layout, sync), shape, {.bytes = 4 * pixels}, into.pointer(), size,
                        size, float(ticks_), pattern);
}

void Ripple::draw_reference(std::size_t layout) {
    const int size = int(chosen_.size);
    const compute::Work work{.bytes = 4.0 * size * size};
    const auto launch = [&] {
        device().launch(reference_kernel(layout), shape_of(size, layout), work,
                        state_->reference.pointer(), size, size, float(ticks_),
                        int(chosen_.pattern.index()));
    };
    // Times of different kernels with the same name must not mix.
    if (edited(device(), Parameters::file_of(layout)))
        device().time_as("built-in " + chosen_.kernel_of(layout, true), work, launch);
    else
        launch();
}

std::pair<Ripple::Pixels, Ripple::Pixels> Ripple::draw_halves(std::size_t layout) {
    const Pixels shown = state_->shown.pointer(), other = state_->other.pointer();
    // The half with the barrier is the reference, except for edited kernels.
    if (!edited(device(), Parameters::file_of(layout))) return {shown, state_->reference.pointer()};
    draw(state_->other, layout, true);
    return {shown, other};
}

void Ripple::launch_kernel() {
    device().begin_frame(frame());
    draw(state_->shown, chosen_.layout.index(), chosen_.with_barrier());
}

// Another kernel must not change the counts, mask and times of the picture on show.
std::size_t Ripple::reference_layout() const {
    return chosen_.stamped() ? Parameters::book_layout : chosen_.layout.index();
}

std::vector<KnownResult> Ripple::known_results() {
    const auto size = std::size_t(chosen_.size);
    return {{.name = "pixel",
             .address = state_->shown.pointer().address,
             .type = launches::parse_element_type("uchar4"),
             .shape = {size, size},
             .is_picture = true,
             .right = [this, size] {
                 draw_reference(reference_layout());
                 launches::Array right(launches::parse_element_type("uchar4"), {size, size});
                 device().download(right.bytes.data(), state_->reference.pointer().address,
                                   right.bytes.size());
                 return right;
             }}};
}

std::any Ripple::save_state() {
    return ticks_;
}

void Ripple::load_state(const std::any& state) {
    ticks_ = std::any_cast<double>(state);
}

void Ripple::render_into(const PixelTarget& target) {
    const Counter wrong = state_->wrong.pointer() + state_->slot();
    const Counter stale = state_->stale.pointer() + state_->slot();
    const int size = int(chosen_.size);
    const std::size_t other_layout = reference_layout();

    // Not rendered until the end: a stop leaves pictures and times half done.
    rendered_frame_.reset();
    device().begin_frame(frame());
    device().fill(wrong.address, 0, sizeof(unsigned));
    device().fill(stale.address, 0, sizeof(unsigned));
    draw(state_->shown, chosen_.layout.index(), chosen_.with_barrier());
    draw_reference(other_layout);
    const auto [without, with] = chosen_.view == View::split
                                     ? draw_halves(other_layout)
                                     : std::pair{state_->shown.pointer(), state_->shown.pointer()};
    device().launch(compare_, shape_of(size), {.bytes = 12.0 * size * size},
                    state_->shown.pointer(), state_->reference.pointer(), without, with,
                    state_->stale_mask.pointer(), target.pixels, size, size, int(shown_view()),
                    wrong);
    ++state_->launches;
    rendered_frame_ = frame();
}

void Ripple::render_if_changed() {
    if (rendered_frame_ == frame()) return;
    const std::size_t pixels = state_->shown.size();
    if (scratch_.size() != pixels) scratch_ = compute::Buffer<Rgba>(device(), pixels);
    render_into({scratch_.pointer(), picture_size({})});
}

std::optional<Comparison> Ripple::compare() {
    const WaitForCompiler wait(device());
    Comparison comparison{.title = "Tile layouts, with the barrier",
                          .rate_unit = "B/s",
                          .element = "pixel",
                          .published_title = ""};
    const double pixels = double(state_->shown.size());
    const compute::Buffer<unsigned> wrong(device(), 1);
    rendered_frame_.reset();
    draw_reference(Parameters::book_layout);
    const auto verdict = [&](std::size_t layout, double error) {
        if (error == 0) return Verdict::pass;
        return edited(device(), Parameters::file_of(layout)) ? Verdict::none : Verdict::fail;
    };
    for (std::size_t layout = 0; layout < chosen_.layout.words().size(); ++layout) {
        if (!can_run(device().info(), layout)) continue;
        const std::string kernel = chosen_.kernel_of(layout, true);
        const auto counts =
            count_work(device(), pixels, [&] { draw(state_->shown, layout, true); });
        const std::size_t launches =
            launches_worth(device(), newest_median_ms(device(), kernel, 1));
        for (std::size_t i = 0; i < launches; ++i) draw(state_->shown, layout, true);
        device().fill(wrong.pointer().address, 0, sizeof(unsigned));
        device().launch(compare_, shape_of(chosen_.size), {.bytes = 12.0 * pixels},
                        state_->shown.pointer(), state_->reference.pointer(),
                        state_->shown.pointer(), state_->shown.pointer(),
                        state_->stale_mask.pointer(), state_->other.pointer(), int(chosen_.size),
                        int(chosen_.size), int(View::picture), wrong.pointer());
        const double error = wrong.download()[0] / pixels;
        const double ms = newest_median_ms(device(), kernel, launches);
        comparison.rows.push_back({.id = chosen_.layout.words()[layout].id,
                                   .label = chosen_.layout.words()[layout].label,
                                   .median_ms = ms,
                                   .rate = ms > 0 ? 4.0 * pixels / (ms / 1000) : 0.0,
                                   .error = error,
                                   .verdict = verdict(layout, error),
                                   .published = {},
                                   .counts = counts});
    }
    return comparison;
}

namespace {

/// Counts of the newest launches, oldest first. `ring` has stored `launches` of them in all.
std::vector<unsigned> newest(const std::vector<unsigned>& ring, std::uint64_t launches) {
    std::vector<unsigned> counts;
    const std::uint64_t known = std::min<std::uint64_t>(ring.size(), launches);
    for (std::uint64_t i = launches - known; i < launches; ++i)
        counts.push_back(ring[i % ring.size()]);
    return counts;
}

files::Sentence proves_nothing(const files::Sentence& barrier) {
    return files::sentence(
               "That proves nothing: without {} nothing orders the reads after the "
               "writes.",
               barrier)
        .add(files::sentence("Other timing gives another picture."));
}

}  // namespace

Report Ripple::spread(const std::string& name, const files::Sentence& label,
                      const compute::Buffer<unsigned>& counts) const {
    std::vector<double> recent;
    for (const unsigned count : newest(counts.download(), state_->launches))
        recent.push_back(100.0 * count / double(state_->shown.size()));
    std::vector<double> sorted = recent;
    std::sort(sorted.begin(), sorted.end());
    const auto reading = [&](const char* suffix, files::Sentence title, double value) {
        return Reading{name + suffix, std::move(title), value, "%", {}, Verdict::none, {}};
    };
    const auto over = [&](files::Form<1> form, files::Form<2> of_label) {
        return name == "wrong_pixels" ? files::sentence(form, recent.size())
                                      : files::sentence(of_label, label, recent.size());
    };
    Report report{reading("", label, recent.back()),
                  reading("_median",
                          over(files::Form<1>("Median of the last {}"),
                               files::Form<2>("{}: Median of the last {}")),
                          sorted[sorted.size() / 2]),
                  reading("_min",
                          over(files::Form<1>("Minimum of the last {}"),
                               files::Form<2>("{}: Minimum of the last {}")),
                          sorted.front()),
                  reading("_max",
                          over(files::Form<1>("Maximum of the last {}"),
                               files::Form<2>("{}: Maximum of the last {}")),
                          sorted.back())};
    report.front().expected = 0.0;
    report.front().recent = std::move(recent);
    return report;
}

files::Sentence Ripple::barrier_place() const {
    const std::string file = kernel_file();
    std::vector<int> lines = barrier_lines(device().source(compute::kernel_path(file)));
    // The other cluster_sync() makes a block wait before it ends.
    if (chosen_.in_cluster() && lines.size() > 1) lines.resize(1);
    return place(file, lines);
}

files::Sentence Ripple::barrier() const {
    return files::sentence(chosen_.in_cluster() ? files::Form<1>("cluster_sync() at {}")
                                                : files::Form<1>("__syncthreads() at {}"),
                           barrier_place());
}

void Ripple::judge_edited(Reading& wrong) const {
    wrong.label = files::sentence("Pixels unlike built-in");
    if (wrong.value > 0) wrong.verdict = Verdict::finding;
    wrong.expected.reset();
    wrong.sentence = wrong.value == 0
                         ? files::sentence(
                               "The edited kernel draws each pixel as the built-in kernel with its "
                               "barrier does.")
                         : files::sentence(
                               "{} of the edited kernel's pixels differ from those of the built-in "
                               "kernel with its barrier.",
                               compute::quantity(wrong.value, "%"))
                               .add(files::sentence("This may be intended; see the race check."));
}

void Ripple::judge_wrong(Reading& wrong) const {
    if (chosen_.view == View::split)
        wrong.label = files::sentence("Wrong pixels without the barrier");
    if (edited(device(), kernel_file())) return judge_edited(wrong);
    if (chosen_.with_barrier() && wrong.value == 0) {
        wrong.verdict = Verdict::pass;
        wrong.sentence = files::sentence("A second run with the barrier gives equal pixels.");
    } else if (chosen_.with_barrier()) {
        wrong.verdict = Verdict::fail;
        wrong.sentence = files::sentence(
            "{} of the pixels differ between two runs with the barrier: the device or this "
            "program is broken.",
            compute::quantity(wrong.value, "%"));
    } else if (wrong.value > 0) {
        wrong.verdict = Verdict::finding;
        wrong.sentence = files::sentence(
            "{} of the pixels were read before their thread had written them; "
            "{} orders the reads after the writes.",
            compute::quantity(wrong.value, "%"), barrier());
    } else {
        wrong.verdict = Verdict::unproven;
        wrong.sentence =
            files::sentence("No pixel is wrong this time.").add(proves_nothing(barrier()));
    }
    if (const auto remark = chosen_.view.remark()) wrong.sentence.add(remark->sentence);
}

void Ripple::judge_stale(Reading& stale) const {
    if (chosen_.with_barrier() && stale.value == 0) {
        stale.verdict = Verdict::pass;
        stale.sentence =
            files::sentence("Every word was read with the stamp of its own block and launch.");
        return;
    }
    if (chosen_.with_barrier() && !edited(device(), kernel_file())) {
        stale.verdict = Verdict::fail;
        stale.sentence = files::sentence(
            "Words were read with the stamp of another block or launch, although "
            "there is a barrier: the device or this program is broken.");
        return;
    }
    stale.verdict = Verdict::finding;
    if (stale.value == 0) {
        stale.verdict = Verdict::unproven;
        stale.sentence =
            files::sentence("No read was stale this time.").add(proves_nothing(barrier()));
        return;
    }
    stale.sentence =
        files::sentence("{} pixels were read from words with the stamp of another block or launch.",
                        compute::grouped(stale.value / 100 * double(state_->shown.size())))
            .add(files::sentence("Some of these words hold the right value by chance, so fewer "
                                 "pixels are wrong."));
}

Report Ripple::report() {
    render_if_changed();
    Report report = spread("wrong_pixels", "Wrong pixels", state_->wrong);
    judge_wrong(report.front());
    if (!chosen_.stamped()) return report;
    Report stale = spread("stale_reads", "Stale reads", state_->stale);
    judge_stale(stale.front());
    std::move(stale.begin(), stale.end(), std::back_inserter(report));
    return report;
}

std::optional<Timeline> Ripple::timeline() {
    if (!chosen_.stamped()) return std::nullopt;
    render_if_changed();
    const std::vector<WarpTimes> times = state_->times.download();
    std::int64_t first = times.front().began;
    for (const WarpTimes& t : times) first = std::min(first, t.began);

    const compute::DeviceInfo& info = device().info();
    const compute::Dim3 block = timed_block();
    Timeline timeline;
    timeline.title = files::sentence("block ({}, {}), SM {}, {}", block.x, block.y,
                                     times.front().multiprocessor, info.name);
    timeline.unit = info.kind == compute::DeviceKind::emulator ? "instructions" : "clocks";
    timeline.warps = warps;
    const std::string barrier = barrier_place();
    const unsigned late_writers = warps_delayed_before(DelayBefore::write);
    const unsigned late_readers = warps_delayed_before(DelayBefore::read);
    for (unsigned w = 0; w < warps; ++w) {
        using enum Timeline::Activity;
        const WarpTimes& t = times[w];
        const auto span = [&](Timeline::Activity activity, std::int64_t begin, std::int64_t end,
                              std::string line = {}) {
            timeline.spans.push_back(
                {w, activity, double(begin - first), double(end - first), std::move(line)});
        };
        const bool late_writer = late_writers >> w & 1, late_reader = late_readers >> w & 1;
        if (late_writer) span(delayed, t.began, t.woke);
        span(writing, late_writer ? t.woke : t.began, t.arrived);
        if (chosen_.with_barrier()) span(waiting, t.arrived, t.left, barrier);
        if (late_reader) span(delayed, t.left, t.resumed);
        span(reading, late_reader ? t.resumed : t.left, t.ended);
        timeline.end = std::max(timeline.end, double(t.ended - first));
    }
    return timeline;
}

}  // namespace warpscope::experiments
