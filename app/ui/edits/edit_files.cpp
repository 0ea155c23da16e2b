#include "ui/edits/edit_files.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "ui/language/language.h"

namespace warpscope::ui {

EditFiles::EditFiles(Stage& stage, KernelFolder watched, const std::filesystem::path& kept,
                     std::function<void()> wake)
    : stage_(stage), watched_(std::move(watched)), kept_(kept), wake_(std::move(wake)) {
    say(watched_.look(stage_.documents()));
    if (offers()) stage_.say(tr("Unsaved edits to {} found.", offered()));
}

std::string EditFiles::offered() const {
    std::string names;
    for (const auto& [file, text] : kept_.offered())
        names += fmt::format("{}{}.cu", names.empty() ? "" : ", ", file);
    return names;
}

void EditFiles::look() {
    say(watched_.look_beside(stage_.documents(), wake_));
    const bool offered = offers();
    kept_.follow(stage_.documents());
    if (!offered && offers()) stage_.say(tr("Unsaved edits to {} found.", this->offered()));
    keep(false);
}

void EditFiles::say(std::string words) {
    if (words.empty()) return;
    stage_.say(std::move(words), watched_.trouble() ? Tone::error : Tone::info);
}

void EditFiles::take_offer() {
    const compute::Sources texts = kept_.offered();
    kept_.taken();
    for (const auto& [file, text] : texts) stage_.documents()[file].replace(text);
}

void EditFiles::decline_offer() {
    stage_.say(
        tr("The edits to {} are discarded. The settings folder has them as NAME.cu~.", offered()));
    kept_.decline();
}

void EditFiles::keep(bool now) {
    try {
        kept_.keep(stage_.documents(), watched_, now);
    } catch (const std::exception& error) {
        if (std::exchange(complained_, true)) return;
        stage_.say(tr("Edits can't be kept for the next start: {}.", error.what()), Tone::error);
    }
}

std::filesystem::path kept_edits_folder(const std::filesystem::path& settings) {
    return settings.empty() ? std::filesystem::path() : settings.parent_path() / "kernels";
}

}  // namespace warpscope::ui
