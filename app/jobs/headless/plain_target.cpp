#include "jobs/headless/plain_target.h"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "gl/png.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {
namespace {

using experiments::Rgba;
using experiments::Size;

std::span<const std::uint8_t> bytes_of(const std::vector<Rgba>& pixels) {
    return {reinterpret_cast<const std::uint8_t*>(pixels.data()), pixels.size() * sizeof(Rgba)};
}

}  // namespace

void PlainTarget::save(const std::filesystem::path& file,
                       const experiments::Metadata& metadata) const {
    gl::write_png(file, size_.width, size_.height, bytes_of(pixels_.download()), metadata);
}

std::vector<std::uint8_t> PlainTarget::png(const experiments::Metadata& metadata) const {
    return gl::encode_png(size_.width, size_.height, bytes_of(pixels_.download()), metadata);
}

std::vector<std::uint8_t> png_of(experiments::Experiment& experiment,
                                 const experiments::Entry& entry, Size view) {
    const Size size = experiment.picture_size(view);
    if (size.width <= 0 || size.height <= 0) return {};
    PlainTarget target(experiment.device(), size);
    target.draw(experiment);
    return target.png(experiments::describe(experiment, entry, view, true));
}

void PlainTarget::add_to(gl::Recording& recording) const {
    constexpr std::chrono::milliseconds shown(33);
    const auto pixels = pixels_.download();
    const auto bytes = bytes_of(pixels);
    recording.add(size_.width, size_.height, {bytes.begin(), bytes.end()}, gl::Rows::top_first,
                  shown);
}

FrameRecorder::FrameRecorder(experiments::Experiment& experiment, const experiments::Entry& entry,
                             Size view, std::filesystem::path file)
    : experiment_(experiment), entry_(entry), view_(view), file_(std::move(file)) {
    const Size size = experiment.picture_size(view);
    if (size.width <= 0 || size.height <= 0)
        throw UsageError(
            fmt::format("--record: {} draws a tree and no picture; record it in the window, with "
                        "Ctrl+F12",
                        entry.id));
    target_.emplace(experiment.device(), size);
}

void FrameRecorder::add() {
    if (!recording_)
        recording_.emplace(file_, experiments::describe(experiment_, entry_, view_, true));
    target_->draw(experiment_);
    target_->add_to(*recording_);
}

void FrameRecorder::finish() {
    if (recording_) recording_->finish();
}

}  // namespace warpscope::jobs
