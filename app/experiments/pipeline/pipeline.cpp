#include "experiments/pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "compute/device/number_text.h"
#include "experiments/framework/experiment.h"
#include "experiments/measure/compared_kernels.h"

namespace warpscope::experiments {

PipelineParameters::PipelineParameters()
    : copies(*this, "copies", "Copies",
             "How tiles of the picture come into shared memory: each thread loads and stores; each "
             "thread copies 16 bytes at a time asynchronously (cp.async, from sm_80 on); or one "
             "thread of a producer warp copies whole tiles (cp.async.bulk, from sm_90 on).",
             {{"synchronous", "load and store"},
              {"async", "cp.async (sm_80)"},
              {"bulk", "bulk copies (sm_90)"}},
             1),
      stages(*this, "stages", "Stages", "Tiles of the ring, which are filled in advance.", 4, 1, 8),
      wait(*this, "wait", "Wait before the read",
           "Threads wait for the copy of a tile before they read it. Without this they wait after "
           "the read: cp.async.wait_group, or the phase of the full barrier, comes too late.",
           true),
      commit(*this, "commit", "Commit",
             "Copies are put into a group, which a thread can wait for. Without this the wait ends "
             "at once.",
             true),
      keep(*this, "keep", "Empty barrier",
           "A tile is filled again only when all threads have read it. Without this there is no "
           "__syncthreads() before the next copy, or the consumers arrive at the empty barrier "
           "before they read.",
           true),
      fence(*this, "fence", "Proxy fence",
            "fence.proxy.async stands between the stores of threads and the bulk copy of what they "
            "have stored. Only for bulk copies.",
            true),
      view(*this, "view", "View",
           "The filtered picture; the picture with wrong pixels in magenta; or its source.",
           {{"picture", "picture"}, {"wrong", "wrong pixels"}, {"source", "source"}}),
      size(*this, "size", "Size", "Width and height of the picture, in pixels.",
           {{"256", "256"},
            {"512", "512"},
            {"1024", "1024"},
            {"2048", "2048"},
            {"4096", "4096"},
            {"8192", "8192"}},
           2),
      speed(*this, "speed", "Speed", "How fast the discs of the picture grow and shrink.", 1.0, 0.0,
            20.0, "ticks per frame") {
    const auto in_ring = [this] { return copies != Copies::synchronous; };
    for (Parameter* p : std::initializer_list<Parameter*>{&stages, &wait, &commit, &keep})
        p->only_when(in_ring);
    fence.only_when([this] { return copies == Copies::bulk; });
    view.only_shows();
    group("Kernel", {&copies, &stages, &wait, &commit, &keep, &fence});
    group("Picture", {&view, &size, &speed});
}

std::string PipelineParameters::file_of(Copies copies) {
    return copies == Copies::bulk ? "pipeline_bulk" : "pipeline";
}

double PipelineParameters::work() const {
    constexpr double source = 60, filter = 30, compare = 50;  // for each pixel
    return double(side() * side()) * (source + 2 * filter + compare);
}

std::string PipelineParameters::kernel_of(Copies copies) {
    return copies == Copies::synchronous ? "pipeline_synchronous"
           : copies == Copies::async     ? "pipeline_async"
                                         : "pipeline_bulk";
}

int PipelineParameters::steps() const {
    const auto step = [](const Toggle& toggle, int bit) {
        return toggle || !toggle.matters() ? bit : 0;
    };
    return step(wait, wait_before_read) | step(commit, commit_copies) | step(keep, keep_tile) |
           step(fence, fence_proxy);
}

std::int64_t PipelineParameters::side() const {
    return std::stoll(size.words()[size.index()].id);
}

namespace {

// The constants of kernels/pipeline.cu.
constexpr unsigned threads = 256, pixels_of_tile = 4 * threads, margin = 4;
constexpr unsigned bytes_of_tile = (pixels_of_tile + 2 * margin) * sizeof(Rgba);

double bytes_of(double pixels) {
    return pixels * sizeof(Rgba) * (1 + double(bytes_of_tile) / (pixels_of_tile * sizeof(Rgba)));
}

}  // namespace

Pipeline::State::State(compute::Device& device, std::size_t pixels)
    : source(device, pixels + 2 * margin),
      shown(device, pixels),
      reference(device, pixels),
      wrong(device, 1) {
    wrong.fill(0);
}

Pipeline::Pipeline(compute::Device& device)
    : Experiment(device),
      draw_(device.shipped_kernel<Pixels, int, int>("pipeline_source", "pipeline_source")),
      synchronous_(device.kernel<Pixels, Pixels, int>("pipeline",
                                                      Parameters::kernel_of(Copies::synchronous))),
      reference_(device.shipped_kernel<Pixels, Pixels, int>(
          "pipeline", Parameters::kernel_of(Copies::synchronous))),
      compare_(device.shipped_kernel<Pixels, Pixels, Pixels, Pixels, Mask, Pixels, int, int, int,
                                     Counter>("ripple_compare", "compare")),
      cleaner_(device) {
    state_.emplace(device, std::size_t(chosen_.side() * chosen_.side()));
}

Size Pipeline::picture_size(Size) const {
    return {int(chosen_.side()), int(chosen_.side())};
}

int Pipeline::tiles() const {
    return int(chosen_.side() * chosen_.side() / pixels_of_tile);
}

void Pipeline::changed(std::span<Parameter* const> which) {
    if (any_of(which, {&chosen_.size})) {
        state_ = State(device(), std::size_t(chosen_.side() * chosen_.side()));
        scratch_ = {};
    }
    rendered_frame_.reset();
}

bool Pipeline::leaves_trace(std::span<Parameter* const> which) const {
    return any_of(which, {&chosen_.speed});
}

void Pipeline::do_step() {
    ticks_ = std::fmod(ticks_ + chosen_.speed, 128.0);  // the period of the discs
}

void Pipeline::do_reset() {
    ticks_ = 0;
    rendered_frame_.reset();
}

// Blocks that stay on their SM and filter tiles in turn. Each should have several, or there is
// nothing to copy in advance.
compute::LaunchShape Pipeline::shape_of(Copies copies) const {
    const unsigned of_sm = device().info().kind == compute::DeviceKind::emulator ? 4 : 6;
    const auto resident = unsigned(std::max(1, device().info().multiprocessors)) * of_sm;
    const unsigned blocks = std::clamp(unsigned(tiles()) / 8, 1u, resident);
    compute::LaunchShape shape{.grid = {blocks}, .block = {threads}};
    if (copies == Copies::bulk) shape.block.x += 32;  // the warp that produces
    if (copies != Copies::synchronous)
        shape.dynamic_shared_bytes = std::uint32_t(chosen_.stages) * bytes_of_tile;
    return shape;
}

const Pipeline::FilterInRing& Pipeline::ring_kernel(Copies copies) {
    const auto found = in_ring_.find(copies);
    if (found != in_ring_.end()) return found->second;
    return in_ring_[copies] = device().kernel<Pixels, Pixels, int, int, int>(
               Parameters::file_of(copies), Parameters::kernel_of(copies));
}

void Pipeline::draw_source() {
    const double pixels = double(chosen_.side() * chosen_.side());
    const auto blocks = unsigned(std::min(pixels / threads, 1024.0));
    device().launch(draw_, {.grid = {blocks}, .block = {threads}}, {.bytes = 4 * pixels},
                    state_->source.pointer(), int(chosen_.side()), int(ticks_));
}

void Pipeline::filter_synchronously(const Filter& kernel, const compute::Buffer<Rgba>& into) {
    device().launch(kernel, shape_of(Copies::synchronous), {.bytes = bytes_of(double(into.size()))},
                    state_->source.pointer(), into.pointer(), tiles());
}

void Pipeline::filter(Copies copies, int steps, const compute::Buffer<Rgba>& into) {
    if (copies == Copies::synchronous) return filter_synchronously(synchronous_, into);
    const FilterInRing& kernel = ring_kernel(copies);
    // What a tile holds before its copy lands must not depend on the kernels that ran before.
    if (steps != Parameters::all_steps) cleaner_.launch();
    device().launch(kernel, shape_of(copies), {.bytes = bytes_of(double(into.size()))},
                    state_->source.pointer(), into.pointer(), tiles(), int(chosen_.stages), steps);
}

void Pipeline::launch_kernel() {
    device().begin_frame(frame());
    draw_source();
    filter(chosen_.copies, chosen_.steps(), state_->shown);
}

std::vector<KnownResult> Pipeline::known_results() {
    const auto side = std::size_t(chosen_.side());
    return {{.name = "pixel",
             .address = state_->shown.pointer().address,
             .type = launches::parse_element_type("uchar4"),
             .shape = {side, side},
             .is_picture = true,
             .right = [this, side] {
                 filter_synchronously(reference_, state_->reference);
                 launches::Array right(launches::parse_element_type("uchar4"), {side, side});
                 device().download(right.bytes.data(), state_->reference.pointer().address,
                                   right.bytes.size());
                 return right;
             }}};
}

void Pipeline::show(const PixelTarget& target, View view) {
    const int side = int(chosen_.side());
    const Pixels shown = state_->shown.pointer();
    const Pixels source = state_->source.pointer() + margin;
    // The views of kernels/ripple_compare.cu: the picture, wrong pixels, and the halves of two.
    constexpr int compared_view[] = {0, 1, 3};
    device().fill(state_->wrong.pointer().address, 0, sizeof(unsigned));
    const unsigned squares = unsigned(side) / 16;
    device().launch(compare_, {.grid = {squares, squares}, .block = {16, 16}},
                    {.bytes = 12.0 * side * side}, shown, state_->reference.pointer(), source,
                    source, Mask{}, target.pixels, side, side, compared_view[int(view)],
                    state_->wrong.pointer());
}

void Pipeline::render_into(const PixelTarget& target) {
    rendered_frame_.reset();
    device().begin_frame(frame());
    draw_source();
    filter(chosen_.copies, chosen_.steps(), state_->shown);
    device().time_as("reference", {.bytes = bytes_of(double(state_->reference.size()))},
                     [&] { filter_synchronously(reference_, state_->reference); });
    show(target, chosen_.view);
    rendered_frame_ = frame();
}

void Pipeline::render_if_changed() {
    if (rendered_frame_ == frame()) return;
    const std::size_t pixels = state_->shown.size();
    if (scratch_.size() != pixels) scratch_ = compute::Buffer<Rgba>(device(), pixels);
    render_into({scratch_.pointer(), picture_size({})});
}

void Pipeline::judge(Reading& wrong) const {
    if (edited(device(), kernel_file())) {
        wrong.verdict = wrong.value > 0 ? Verdict::finding : Verdict::none;
        return;
    }
    const bool whole = chosen_.has_all_steps();
    if (whole) {
        wrong.verdict = wrong.value > 0 ? Verdict::fail : Verdict::pass;
        wrong.sentence = wrong.value > 0 ? files::sentence(
                                               "The pictures differ, although all waits are there: "
                                               "the device or this program is broken.")
                                         : files::sentence(
                                               "All pixels are those of the kernel that waits for "
                                               "each tile.");
        return;
    }
    wrong.verdict = wrong.value > 0 ? Verdict::finding : Verdict::unproven;
    wrong.sentence =
        wrong.value > 0
            ? files::sentence(
                  "Threads read tiles before their copies had landed, or while the "
                  "next copy came.")
            : files::sentence("No pixel is wrong this time.")
                  .add(files::sentence("That proves nothing: the copies may land at any other "
                                       "moment."))
                  .add(files::sentence("The race check tells."));
}

Report Pipeline::report() {
    render_if_changed();
    const double pixels = double(state_->shown.size());
    Reading wrong{"wrong_pixels",
                  "Wrong pixels",
                  100.0 * state_->wrong.download()[0] / pixels,
                  "%",
                  0.0,
                  Verdict::none,
                  {}};
    judge(wrong);
    Report report{std::move(wrong)};
    const double ms = newest_median_ms(device(), Parameters::kernel_of(chosen_.copies), 9);
    const double reference = newest_median_ms(device(), "reference", 9);
    const auto add = [&](const char* name, const char* label, double value, const char* unit,
                         files::Sentence sentence) {
        report.push_back({name, label, value, unit, {}, Verdict::none, std::move(sentence)});
    };
    add("copied", "Copied into tiles", double(tiles()) * bytes_of_tile, "B",
        files::sentence("{} tiles of {} bytes, in {} blocks.", tiles(), bytes_of_tile,
                        shape_of(chosen_.copies).grid.x));
    if (ms <= 0 || reference <= 0) return report;
    add("rate", "Memory rate", bytes_of(pixels) / (ms / 1000), "B/s",
        files::sentence("The bytes that are read and written in the time of the kernel."));
    // In the emulator copies overlap with nothing.
    if (chosen_.copies != Copies::synchronous && device().info().kind == compute::DeviceKind::cuda)
        add("time", "Time : load and store", ms / reference, "x",
            files::sentence("Below 1, the copies overlap with the filter."));
    return report;
}

std::optional<Comparison> Pipeline::compare() {
    const WaitForCompiler wait(device());
    Comparison comparison{.title = "Copies into the ring, with all waits",
                          .rate_unit = "B/s",
                          .element = "pixel",
                          .published_title = ""};
    const double pixels = double(state_->shown.size());
    rendered_frame_.reset();
    draw_source();
    filter_synchronously(reference_, state_->reference);
    for (const Copies copies : {Copies::synchronous, Copies::async, Copies::bulk}) {
        const std::string kernel = Parameters::kernel_of(copies);
        const auto run = [&] { filter(copies, Parameters::all_steps, state_->shown); };
        const auto counts = count_work(device(), pixels, run);
        const std::size_t launches =
            launches_worth(device(), newest_median_ms(device(), kernel, 1));
        for (std::size_t i = 0; i < launches; ++i) run();
        if (scratch_.size() != state_->shown.size())
            scratch_ = compute::Buffer<Rgba>(device(), state_->shown.size());
        show({scratch_.pointer(), picture_size({})}, View::picture);
        const double error = state_->wrong.download()[0] / pixels;
        const double ms = newest_median_ms(device(), kernel, launches);
        comparison.rows.push_back({.id = chosen_.copies.words()[std::size_t(copies)].id,
                                   .label = chosen_.copies.words()[std::size_t(copies)].label,
                                   .median_ms = ms,
                                   .rate = ms > 0 ? bytes_of(pixels) / (ms / 1000) : 0.0,
                                   .error = error,
                                   .verdict = judged(device(), kernel_file(), error == 0),
                                   .published = {},
                                   .counts = counts});
    }
    return comparison;
}

}  // namespace warpscope::experiments
