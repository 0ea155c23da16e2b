#include "ui/lessons/room.h"

#include <utility>

#include "experiments/launch/launch_parameters.h"
#include "experiments/launch/open_launch.h"

namespace warpscope::ui {

void Room::keep(const experiments::SharedEntry& entry, const std::string& file) {
    if (!before_)
        before_ = {stage_.shown().entry, stage_.run(),         stage_.paused(),
                   options_.editor,      options_.kernel_path, {}};
    editor_.reset();
    if (before_->kept.contains(entry->id)) return;
    const auto parameters = entry->make_parameters();
    const experiments::Assignments changed = stage_.changed_parameters();
    try {
        const auto found = changed.find(entry->id);
        if (found != changed.end()) parameters->parse(found->second);
    } catch (const experiments::ParameterError&) {
        // The values are those of another launch file.
    }
    Kept kept{entry, parameters->assignments(true), file, nullptr};
    if (!file.empty()) kept.text = stage_.documents()[file].shared_text();
    before_->kept.emplace(entry->id, std::move(kept));
}

void Room::put_back(const Kept& kept) {
    if (const auto parameters = kept.entry->make_parameters(); parameters->of_launch_file()) {
        const launches::LaunchFile& file = parameters->of_launch_file()->plan->file;
        try {
            const std::string source = experiments::read_launch_source(file);
            stage_.open_launch(file, source, kept.values);
        } catch (const launches::LaunchError& error) {
            stage_.say(error.what(), Tone::error);
        }
        return;
    }
    stage_.open(kept.entry, kept.values, stage_.run());
    if (kept.text) stage_.documents()[kept.file].replace(*kept.text);
}

void Room::give_back(bool shows) {
    if (!before_) return;
    Before before = *std::exchange(before_, std::nullopt);
    const experiments::SharedEntry now = stage_.shown().entry;
    stage_.pause(true);  // so that long frames of before are not asked for again
    stage_.set_run(before.run);
    // A launch file that a person has opened is the newest one.
    const bool keeps_launch = !shows && now->compile;
    // The experiment on show comes first, because the stage sets its values without opening it.
    if (const auto first = before.kept.extract(now->id); first && !keeps_launch)
        put_back(first.mapped());
    for (const auto& [id, kept] : before.kept) put_back(kept);
    stage_.select(shows ? before.entry : now);
    stage_.pause(before.paused);
    if (keeps_launch) return;  // which has opened the editor
    options_.kernel_path = before.kernel_path;
    options_.editor = before.editor;
    editor_ = before.editor;
    is_back_ = false;
}

void Room::advance() {
    if (!editor_ || !stage_.settled()) return;
    // In the frame that first shows the experiment, the view opens or closes the editor.
    if (std::exchange(is_back_, true)) options_.editor = *std::exchange(editor_, std::nullopt);
}

}  // namespace warpscope::ui
