#include "ui/stage/scene.h"

#include <utility>

namespace warpscope::ui {

using experiments::Experiment;
using experiments::Size;

namespace {

void draw(Experiment& experiment, gl::PixelBuffer& target, Size size) {
    target.write([&](std::uint64_t address) { experiment.render_into({{address}, size}); });
}

/// New pixels with the current frame; null where the experiment has none now.
std::unique_ptr<gl::PixelBuffer> fresh_pixels(Experiment& experiment, Size size) {
    if (size.width <= 0 || size.height <= 0) return nullptr;
    auto fresh = std::make_unique<gl::PixelBuffer>(experiment.device(), size.width, size.height);
    draw(experiment, *fresh, size);
    return fresh;
}

}  // namespace

compute::Sources Scene::sources() const {
    compute::Sources sources;
    for (const auto& [file, edit] : device().edits()) sources[file] = edit->source;
    return sources;
}

compute::Sources Scene::used(const compute::Sources& edited) const {
    compute::Sources used;
    const std::string own = experiment().kernel_file();
    for (const auto& [file, text] : edited)
        if (file == own || device().files().contains(file)) used[file] = text;
    return used;
}

void Scene::render(Size view) {
    const Size size = experiment().picture_size(view);
    if (own_pixels && own_pixels->width() == size.width && own_pixels->height() == size.height)
        draw(experiment(), *own_pixels, size);
    else
        own_pixels = fresh_pixels(experiment(), size);
    pixels = own_pixels.get();
}

void Scene::exchange(experiments::Running other, Size view) {
    auto fresh = fresh_pixels(*other.experiment, other.experiment->picture_size(view));
    std::swap(own_pixels, fresh);
    fresh.reset();  // before the device that they are on
    std::swap(running, other);
    pixels = own_pixels.get();
    shown = running.experiment.get();
}

std::vector<experiments::Assignment> values(const Experiment& experiment, bool all) {
    std::vector<experiments::Assignment> list;
    for (const experiments::Parameter* p : experiment.parameters().all())
        if (all || p->text() != p->default_text()) list.push_back({p->id(), p->text()});
    return list;
}

}  // namespace warpscope::ui
