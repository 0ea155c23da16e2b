#include "experiments/ripple.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpscope::experiments {
namespace {

constexpr unsigned tile = 16;
/// Lines of kernels/ripple.cu with the barrier of the plain and of the stamped tile.
constexpr int barrier_line = 68;
constexpr int stamped_barrier_line = 84;

const std::vector<Choice::Word> layouts{
    {"txty", "[tx][ty], as the book"},    {"tytx", "[ty][tx], conflict-free"},
    {"padded17", "[tx][ty], rows of 17"}, {"padded", "[tx][ty], rows of 18"},
    {"bytes", "[tx][ty], byte stores"},   {"stamped", "[tx][ty], stamped words"},
};
constexpr std::size_t stamped_layout = 5;

compute::Shape shape_of(std::int64_t size) {
    const unsigned tiles = unsigned((size + tile - 1) / tile);
    return {.grid = {tiles, tiles}, .block = {tile, tile}};
}

std::string_view suffix(bool sync) {
    return sync ? "" : "_nosync";
}

double percent(unsigned count, double pixels) {
    return 100.0 * count / pixels;
}

Reading wrong_reading(std::string name, std::string label, double value) {
    return {std::move(name), std::move(label), value, "%", {}, Verdict::none, {}};
}

/// Verdict and sentence of the newest frame.
void judge(Reading& wrong, bool sync, int line) {
    wrong.expected = 0.0;
    if (sync && wrong.value == 0) {
        wrong.verdict = Verdict::pass;
        wrong.sentence = "Every pixel is the same in a second run with the barrier.";
    } else if (sync) {
        wrong.verdict = Verdict::fail;
        wrong.sentence = fmt::format(
            "{:.3g} % of the pixels differ between two runs with the barrier: the device or this "
            "program is broken.",
            wrong.value);
    } else if (wrong.value > 0) {
        wrong.verdict = Verdict::finding;
        wrong.sentence = fmt::format(
            "{:.3g} % of the pixels were read before their thread had written them; "
            "__syncthreads() at ripple.cu:{} is what orders them.",
            wrong.value, line);
    } else {
        wrong.verdict = Verdict::finding;
        wrong.sentence = fmt::format(
            "No pixel came out wrong this time. That proves nothing: without __syncthreads() at "
            "ripple.cu:{} nothing orders the reads after the writes.",
            line);
    }
}

}  // namespace

Ripple::State::State(compute::Device& device, std::size_t pixels, std::size_t window)
    : shown(device, pixels),
      reference(device, pixels),
      without(device, pixels),
      wrong(device, window),
      stale(device, window + 1) {
    wrong.fill(0);
    stale.fill(0);
}

Ripple::Ripple(compute::Device& device)
    : Experiment(device),
      pattern_(declare(), "pattern", "Pattern", "What the threads compute.",
               {{"spheres", "green spheres"}, {"ripple", "moving rings"}}),
      sync_(declare(), "sync", "__syncthreads()",
            "The barrier between writing the tile and reading it.", true),
      layout_(declare(), "layout", "Tile",
              "How the tile lies in shared memory; rows of 18 and [ty][tx] have no bank conflicts.",
              layouts),
      size_(declare(), "size", "Size", "Width and height of the picture, in pixels.", 1024, 16,
            4096),
      speed_(declare(), "speed", "Speed", "Ticks that the rings move each frame.", 1.0, 0.0, 20.0,
             "ticks"),
      view_(declare(), "view", "View",
            "The picture, the picture with its wrong pixels painted, or both halves of the lesson.",
            {{"picture", "picture"}, {"wrong", "wrong pixels"}, {"split", "no barrier | barrier"}}),
      window_(declare(), "window", "Launches",
              "Launches that median, least and most wrong pixels are taken over.", 60, 1, 1000),
      compare_(device.kernel<Pixels, Pixels, Pixels, Pixels, int, int, int, Counter>("ripple",
                                                                                     "compare")),
      cleaner_(device) {
    const auto load = [&]<class... Args>(compute::Kernel<Args...>& kernel, std::size_t layout,
                                         bool sync) {
        const std::string name = fmt::format("ripple_{}{}", layouts[layout].id, suffix(sync));
        kernel = device.kernel<Args...>("ripple", name);
    };
    draws_.resize(stamped_layout);
    for (const bool sync : {false, true}) {
        for (std::size_t i = 0; i < draws_.size(); ++i) load(draws_[i][sync], i, sync);
        load(stamped_draws_[sync], stamped_layout, sync);
    }
    state_.emplace(device, std::size_t(size_ * size_), std::size_t(window_));
}

Size Ripple::picture_size(Size) const {
    return {int(size_), int(size_)};
}

bool Ripple::stamped() const {
    return layout_.index() == stamped_layout;
}

void Ripple::changed(std::span<Parameter* const> which) {
    const auto among = [&](const Parameter& parameter) {
        return std::find(which.begin(), which.end(), &parameter) != which.end();
    };
    if (among(size_) || among(window_)) {
        state_ = State(device(), std::size_t(size_ * size_), std::size_t(window_));
        scratch_ = {};
    }
    // View and speed leave the counts of the launches before comparable.
    if (among(sync_) || among(pattern_) || among(layout_)) state_->launches = 0;
    rendered_frame_.reset();
}

bool Ripple::leaves_trace(std::span<Parameter* const> which) const {
    return std::find(which.begin(), which.end(), &speed_) != which.end();
}

void Ripple::do_step() {
    // cos(d/10 - ticks/7) repeats; small angles keep the fast cosine exact.
    ticks_ = std::fmod(ticks_ + speed_, 14.0 * std::numbers::pi);
}

void Ripple::do_reset() {
    ticks_ = 0;
    state_->launches = 0;
    rendered_frame_.reset();
}

void Ripple::draw(const compute::Buffer<Rgba>& into, std::size_t layout, bool sync, Counter stale) {
    const int size = int(size_);
    const compute::Shape shape = shape_of(size);
    const compute::Work work{.bytes = 4.0 * size * size};
    const int pattern = int(pattern_.index());
    if (!sync) cleaner_.launch();
    if (layout != stamped_layout) {
        device().launch(draws_[layout][sync], shape, work, into.pointer(), size, size,
                        float(ticks_), pattern);
        return;
    }
    device().launch(stamped_draws_[sync], shape, work, into.pointer(), size, size, float(ticks_),
                    pattern, next_stamp_, stale);
    next_stamp_ += unsigned(shape.grid.count());
}

void Ripple::launch_kernel() {
    device().begin_frame(frame());
    draw(state_->shown, layout_.index(), sync_, state_->stale.pointer());
}

void Ripple::copy_state(Experiment& leader) {
    ticks_ = dynamic_cast<Ripple&>(leader).ticks_;
}

void Ripple::render_into(const PixelTarget& target) {
    const std::size_t window = state_->wrong.size();
    const std::size_t slot = state_->launches % window;
    const Counter wrong = state_->wrong.pointer() + slot;
    const Counter stale = state_->stale.pointer() + slot;
    const Counter unread = state_->stale.pointer() + window;
    const int size = int(size_);

    device().begin_frame(frame());
    device().fill(wrong.address, 0, sizeof(unsigned));
    device().fill(stale.address, 0, sizeof(unsigned));
    draw(state_->shown, layout_.index(), sync_, stale);
    draw(state_->reference, layout_.index(), true, unread);
    const bool extra = view_.as<View>() == View::split && sync_;
    if (extra) draw(state_->without, layout_.index(), false, unread);
    device().launch(compare_, shape_of(size), {.bytes = 12.0 * size * size},
                    state_->shown.pointer(), state_->reference.pointer(),
                    extra ? state_->without.pointer() : state_->shown.pointer(), target.pixels,
                    size, size, int(view_.index()), wrong);
    ++state_->launches;
    rendered_frame_ = frame();
}

Report Ripple::report() {
    if (rendered_frame_ != frame()) {
        const std::size_t pixels = state_->shown.size();
        if (scratch_.size() != pixels) scratch_ = compute::Buffer<Rgba>(device(), pixels);
        render_into({scratch_.pointer(), picture_size({})});
    }
    const double pixels = double(state_->shown.size());
    std::vector<unsigned> counts = state_->wrong.download();
    const std::size_t newest = (state_->launches - 1) % counts.size();
    Reading wrong = wrong_reading("wrong_pixels", "Wrong pixels", percent(counts[newest], pixels));
    judge(wrong, sync_, stamped() ? stamped_barrier_line : barrier_line);

    counts.resize(std::min<std::uint64_t>(counts.size(), state_->launches));
    std::sort(counts.begin(), counts.end());
    const std::string over = fmt::format(" of the last {}", counts.size());
    Report report{
        std::move(wrong),
        wrong_reading("wrong_pixels_median", "Median" + over,
                      percent(counts[counts.size() / 2], pixels)),
        wrong_reading("wrong_pixels_min", "Least" + over, percent(counts.front(), pixels)),
        wrong_reading("wrong_pixels_max", "Most" + over, percent(counts.back(), pixels))};
    if (stamped()) add_stale_reads(report, newest);
    return report;
}

void Ripple::add_stale_reads(Report& report, std::size_t newest) {
    const unsigned stale = state_->stale.download()[newest];
    Reading reading =
        wrong_reading("stale_reads", "Stale reads", percent(stale, double(state_->shown.size())));
    reading.expected = 0.0;
    reading.verdict = !sync_ ? Verdict::finding : stale == 0 ? Verdict::pass : Verdict::fail;
    reading.sentence = fmt::format(
        "{} pixels were read from words whose stamp is not of their own block and launch.",
        grouped(stale));
    report.push_back(std::move(reading));
}

std::optional<Comparison> Ripple::compare() {
    constexpr std::size_t launches = 9;
    Comparison comparison{"Tile layouts, with the barrier", "B/s", "", {}};
    const Counter unread = state_->stale.pointer() + (state_->stale.size() - 1);
    const double pixels = double(state_->shown.size());
    device().fill(state_->wrong.pointer().address, 0, state_->wrong.size() * sizeof(unsigned));
    state_->launches = 0;
    rendered_frame_.reset();
    draw(state_->reference, 0, true, unread);
    for (std::size_t layout = 0; layout < layouts.size(); ++layout) {
        for (std::size_t i = 0; i < launches; ++i) draw(state_->shown, layout, true, unread);
        const Counter wrong = state_->wrong.pointer();
        device().fill(wrong.address, 0, sizeof(unsigned));
        device().launch(compare_, shape_of(size_), {.bytes = 12.0 * pixels},
                        state_->shown.pointer(), state_->reference.pointer(),
                        state_->shown.pointer(), state_->without.pointer(), int(size_), int(size_),
                        0, wrong);
        const double error = state_->wrong.download()[0] / pixels;
        const double ms = newest_median_ms(device(), "ripple_" + layouts[layout].id, launches);
        comparison.rows.push_back({.id = layouts[layout].id,
                                   .label = layouts[layout].label,
                                   .median_ms = ms,
                                   .rate = ms > 0 ? 4.0 * pixels / (ms / 1000) : 0.0,
                                   .error = error,
                                   .verdict = error == 0 ? Verdict::pass : Verdict::fail,
                                   .published = {}});
    }
    return comparison;
}

}  // namespace warpscope::experiments
