#include "ui/stage/kernel_texts.h"

#include <utility>

#include "compute/device/kernel_source.h"

namespace warpscope::ui {

std::string_view KernelTexts::shipped(std::string_view file) {
    return compute::kernel_source("kernels/" + std::string(file) + ".cu");
}

KernelTexts::Text& KernelTexts::find(const std::string& file) {
    const auto [place, fresh] = texts_.try_emplace(file);
    if (fresh) place->second.text = shipped(file);
    return place->second;
}

const std::string& KernelTexts::text(const std::string& file) {
    return find(file).text;
}

void KernelTexts::set(const std::string& file, std::string text) {
    Text& known = find(file);
    if (known.text == text) return;
    known.text = std::move(text);
    known.state = State::waiting;
    ++version_;
}

compute::Sources KernelTexts::edited_sources() const {
    compute::Sources sources;
    for (const auto& [file, known] : texts_)
        if (known.text != shipped(file)) sources[file] = known.text;
    return sources;
}

std::vector<std::string> KernelTexts::waiting() const {
    std::vector<std::string> files;
    for (const auto& [file, known] : texts_)
        if (known.state == State::waiting) files.push_back(file);
    return files;
}

KernelTexts::State KernelTexts::state(const std::string& file) const {
    const auto found = texts_.find(file);
    return found == texts_.end() ? State::shipped : found->second.state;
}

const std::vector<compiler::Diagnostic>& KernelTexts::diagnostics(const std::string& file) const {
    static const std::vector<compiler::Diagnostic> none;
    const auto found = texts_.find(file);
    return found == texts_.end() ? none : found->second.diagnostics;
}

const std::string& KernelTexts::error(const std::string& file) const {
    static const std::string none;
    const auto found = texts_.find(file);
    return found == texts_.end() ? none : found->second.error;
}

const std::string& KernelTexts::tried(const std::string& file) const {
    static const std::string none;
    const auto found = texts_.find(file);
    return found == texts_.end() ? none : found->second.tried;
}

void KernelTexts::outcome(const std::string& file, std::string_view text, State state,
                          std::vector<compiler::Diagnostic> diagnostics, std::string error) {
    Text& known = find(file);
    known.tried = text;
    known.diagnostics = std::move(diagnostics);
    known.error = std::move(error);
    known.state = known.text == text ? state : State::waiting;
    ++outcomes_;
}

}  // namespace warpscope::ui
