#include "ui/documents/kernel_documents.h"

#include "compute/device/kernel_source.h"

namespace warpscope::ui {

std::string_view KernelDocuments::shipped(std::string_view file) {
    return compute::kernel_source(compute::kernel_path(file));
}

KernelDocument& KernelDocuments::operator[](const std::string& file) {
    return documents_.try_emplace(file, shipped(file)).first->second;
}

KernelDocument& KernelDocuments::open(const std::string& file, std::string_view text,
                                      const std::string& path) {
    const auto found = documents_.find(file);
    if (found != documents_.end() && found->second.path() == path &&
        found->second.shipped() == text)
        return found->second;
    closed_ += 1 + (found == documents_.end() ? 0 : found->second.version());
    return documents_.insert_or_assign(file, KernelDocument(text, path)).first->second;
}

const KernelDocument* KernelDocuments::find(const std::string& file) const {
    const auto found = documents_.find(file);
    return found == documents_.end() ? nullptr : &found->second;
}

std::string_view KernelDocuments::text_before_edits(const std::string& file) const {
    const KernelDocument* const document = find(file);
    return document ? std::string_view(document->shipped()) : shipped(file);
}

std::uint64_t KernelDocuments::version() const {
    std::uint64_t changes = closed_;
    for (const auto& [file, document] : documents_) changes += document.version();
    return changes;
}

compute::Sources KernelDocuments::edited_sources() const {
    compute::Sources sources;
    for (const auto& [file, document] : documents_)
        if (document.edited()) sources[file] = document.text();
    return sources;
}

std::map<std::string, SharedText> KernelDocuments::texts() const {
    std::map<std::string, SharedText> texts;
    for (const auto& [file, document] : documents_) texts[file] = document.shared_text();
    return texts;
}

std::map<std::string, std::shared_ptr<const EditOutcome>> KernelDocuments::outcomes() const {
    std::map<std::string, std::shared_ptr<const EditOutcome>> outcomes;
    for (const auto& [file, document] : documents_) outcomes[file] = document.outcome();
    return outcomes;
}

std::vector<std::string> KernelDocuments::files(EditState state) const {
    std::vector<std::string> files;
    for (const auto& [file, document] : documents_)
        if (document.state() == state) files.push_back(file);
    return files;
}

}  // namespace warpscope::ui
