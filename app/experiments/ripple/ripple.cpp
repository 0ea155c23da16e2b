#include "experiments/ripple/ripple.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/framework/edited.h"

namespace warpscope::experiments {
namespace {

constexpr unsigned tile = 16;
const std::vector<Choice::Word> layouts{
    {"txty", "[tx][ty], as the book"},    {"tytx", "[ty][tx], conflict-free"},
    {"padded17", "[tx][ty], rows of 17"}, {"padded", "[tx][ty], rows of 18"},
    {"bytes", "[tx][ty], byte stores"},   {"stamped", "[tx][ty], stamped words"},
};
constexpr std::size_t stamped_layout = 5;
/// The tile of the stamped kernels without the stamps.
constexpr std::size_t book_layout = 0;

/// Warps that a word of `delayed` means, a bit each.
constexpr unsigned delayed_warps[] = {0x01, 0x0f, 0xaa, 0xfe, 0xff};

compute::LaunchShape shape_of(std::int64_t size) {
    const unsigned tiles = unsigned((size + tile - 1) / tile);
    return {.grid = {tiles, tiles}, .block = {tile, tile}};
}

/// The kernel file that draws a layout.
std::string file_of(std::size_t layout) {
    if (layout == book_layout) return "ripple";
    return layout == stamped_layout ? "ripple_stamped" : "ripple_layouts";
}

std::string kernel_of(std::size_t layout, bool sync) {
    return fmt::format("ripple_{}{}", layouts[layout].id, sync ? "" : "_nosync");
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
            "The picture, the picture with its wrong pixels or stale reads painted (only the "
            "stamped tile knows those), or both halves of the lesson.",
            {{"picture", "picture"},
             {"wrong", "wrong pixels"},
             {"stale", "stale reads"},
             {"split", "no barrier | barrier"}}),
      window_(declare(), "window", "Launches",
              "Newest launches that median, least and most are taken over.", 60, 1, 1000),
      delayed_(declare(), "delayed", "Delayed warps",
               "Which of a block's 8 warps the delay holds up; for the stamped tile.",
               {{"0", "warp 0"},
                {"0-3", "warps 0 to 3"},
                {"odd", "odd warps"},
                {"1-7", "all but warp 0"},
                {"all", "all warps"}}),
      delay_(declare(), "delay", "Delay",
             "Clocks (on the emulator, instructions of the block) that those warps spin; for the "
             "stamped tile.",
             0, 0, 20'000),
      delay_before_(declare(), "delay_before", "Delayed before",
                    "Late writers make reads stale; readers late enough hide that nothing orders "
                    "them.",
                    {{"write", "they write"}, {"read", "they read"}}),
      timed_block_(declare(), "timed_block", "Timed block",
                   "Whose warps the timeline shows, by index x + y * blocks in a row; -1: the "
                   "middle one. For the stamped tile.",
                   -1, -1, 256 * 256 - 1),
      compare_(device.shipped_kernel<Pixels, Pixels, Pixels, Pixels, Mask, Pixels, int, int, int,
                                     Counter>("ripple_compare", "compare")),
      cleaner_(device) {
    const auto load = [&]<class... Args>(compute::Kernel<Args...>& kernel, std::size_t layout,
                                         bool sync) {
        kernel = device.kernel<Args...>(file_of(layout), kernel_of(layout, sync));
    };
    draws_.resize(stamped_layout);
    for (const bool sync : {false, true}) {
        for (std::size_t i = 0; i < draws_.size(); ++i) load(draws_[i][sync], i, sync);
        load(stamped_draws_[sync], stamped_layout, sync);
    }
    for (std::size_t i = 0; i < draws_.size(); ++i)
        references_.push_back(
            device.shipped_kernel<Pixels, int, int, float, int>(file_of(i), kernel_of(i, true)));
    for (Parameter* watched :
         std::initializer_list<Parameter*>{&delayed_, &delay_, &delay_before_, &timed_block_})
        watched->only_when([this] { return stamped(); });
    speed_.only_when([this] { return pattern_.text() == "ripple"; });
    state_.emplace(device, std::size_t(size_ * size_), std::size_t(window_));
}

std::string Ripple::kernel_file() const {
    return file_of(layout_.index());
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
    const std::initializer_list<const Parameter*> anew{&sync_,    &pattern_, &layout_,
                                                       &delayed_, &delay_,   &delay_before_};
    if (std::ranges::find_first_of(which, anew) != which.end()) state_->launches = 0;
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

Ripple::View Ripple::shown_view() const {
    const View view = view_.as<View>();
    return view == View::stale && !stamped() ? View::picture : view;
}

unsigned Ripple::late_writers() const {
    return delay_ > 0 && delay_before_.index() == 0 ? delayed_warps[delayed_.index()] : 0;
}

unsigned Ripple::late_readers() const {
    return delay_ > 0 && delay_before_.index() == 1 ? delayed_warps[delayed_.index()] : 0;
}

compute::Dim3 Ripple::timed_block() const {
    const compute::Dim3 grid = shape_of(size_).grid;
    if (timed_block_ < 0) return {grid.x / 2, grid.y / 2, 0};
    const auto block = unsigned(std::min<std::int64_t>(timed_block_, grid.count() - 1));
    return {block % grid.x, block / grid.x, 0};
}

Ripple::Watch Ripple::watch() {
    const compute::Dim3 grid = shape_of(size_).grid;
    const compute::Dim3 timed = timed_block();
    const Watch watch{.first_stamp = next_stamp_,
                      .late_writers = late_writers(),
                      .late_readers = late_readers(),
                      .delay = int(delay_),
                      .timed_block = timed.x + timed.y * grid.x,
                      .stale_count = state_->stale.pointer() + state_->slot(),
                      .stale_mask = state_->stale_mask.pointer(),
                      .times = state_->times.pointer()};
    next_stamp_ += unsigned(grid.count());
    return watch;
}

void Ripple::draw(const compute::Buffer<Rgba>& into, std::size_t layout, bool sync) {
    const int size = int(size_);
    const compute::LaunchShape shape = shape_of(size);
    const int pattern = int(pattern_.index());
    const double pixels = double(size) * size;
    if (!sync || edited(device(), file_of(layout))) cleaner_.launch();
    if (layout == stamped_layout)
        device().launch(stamped_draws_[sync], shape, {.bytes = 5 * pixels}, into.pointer(), size,
                        size, float(ticks_), pattern, watch());
    else
        device().launch(draws_[layout][sync], shape, {.bytes = 4 * pixels}, into.pointer(), size,
                        size, float(ticks_), pattern);
}

void Ripple::draw_reference(std::size_t layout) {
    const int size = int(size_);
    const compute::Work work{.bytes = 4.0 * size * size};
    const auto launch = [&] {
        device().launch(references_[layout], shape_of(size), work, state_->reference.pointer(),
                        size, size, float(ticks_), int(pattern_.index()));
    };
    // Times of different kernels with the same name must not mix.
    if (edited(device(), file_of(layout)))
        device().time_as("shipped " + kernel_of(layout, true), work, launch);
    else
        launch();
}

std::pair<Ripple::Pixels, Ripple::Pixels> Ripple::draw_halves(std::size_t layout) {
    const Pixels shown = state_->shown.pointer(), other = state_->other.pointer();
    // The reference will do for the half that isn't shown, but for edited kernels.
    if (!sync_ && !edited(device(), file_of(layout))) return {shown, state_->reference.pointer()};
    draw(state_->other, layout, !sync_);
    return sync_ ? std::pair{other, shown} : std::pair{shown, other};
}

void Ripple::launch_kernel() {
    device().begin_frame(frame());
    draw(state_->shown, layout_.index(), sync_);
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
    const int size = int(size_);
    // Counts, mask and times stay those of the picture that is shown.
    const std::size_t other_layout = stamped() ? book_layout : layout_.index();

    device().begin_frame(frame());
    device().fill(wrong.address, 0, sizeof(unsigned));
    device().fill(stale.address, 0, sizeof(unsigned));
    draw(state_->shown, layout_.index(), sync_);
    draw_reference(other_layout);
    const auto [without, with] = view_.as<View>() == View::split
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
    constexpr std::size_t launches = 9;
    Comparison comparison{"Tile layouts, with the barrier", "B/s", "", {}};
    const double pixels = double(state_->shown.size());
    device().fill(state_->wrong.pointer().address, 0, state_->wrong.size() * sizeof(unsigned));
    state_->launches = 0;
    rendered_frame_.reset();
    draw_reference(book_layout);
    const auto verdict = [&](std::size_t layout, double error) {
        if (error == 0) return Verdict::pass;
        return edited(device(), file_of(layout)) ? Verdict::none : Verdict::fail;
    };
    for (std::size_t layout = 0; layout < layouts.size(); ++layout) {
        for (std::size_t i = 0; i < launches; ++i) draw(state_->shown, layout, true);
        const Counter wrong = state_->wrong.pointer();
        device().fill(wrong.address, 0, sizeof(unsigned));
        device().launch(compare_, shape_of(size_), {.bytes = 12.0 * pixels},
                        state_->shown.pointer(), state_->reference.pointer(),
                        state_->shown.pointer(), state_->shown.pointer(),
                        state_->stale_mask.pointer(), state_->other.pointer(), int(size_),
                        int(size_), int(View::picture), wrong);
        const double error = state_->wrong.download()[0] / pixels;
        const double ms = newest_median_ms(device(), kernel_of(layout, true), launches);
        comparison.rows.push_back({.id = layouts[layout].id,
                                   .label = layouts[layout].label,
                                   .median_ms = ms,
                                   .rate = ms > 0 ? 4.0 * pixels / (ms / 1000) : 0.0,
                                   .error = error,
                                   .verdict = verdict(layout, error),
                                   .published = {}});
    }
    return comparison;
}

}  // namespace warpscope::experiments
