#include "ui/documents/kept_edits.h"

#include <stdexcept>
#include <system_error>
#include <utility>

#include "compiler/source_file.h"
#include "ui/widgets/text_file.h"

namespace warpscope::ui {

namespace fs = std::filesystem;

KeptEdits::KeptEdits(fs::path folder, Clock clock)
    : folder_(std::move(folder)), clock_(std::move(clock)) {
    if (folder_.empty()) return;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().extension() != ".cu") continue;
        std::string name = it->path().lexically_relative(folder_).replace_extension().string();
        const std::string_view shipped = KernelDocuments::shipped(name);
        if (shipped.empty()) continue;
        try {
            std::string text = compiler::read_source_file(it->path());
            if (text != shipped) offered_[std::move(name)] = std::move(text);
        } catch (const std::runtime_error&) {
            // A file that cannot be read is not offered. It stays until an edit takes its name, and
            // is then renamed.
        }
    }
}

fs::path KeptEdits::file(const std::string& name) const {
    return folder_ / (name + ".cu");
}

void KeptEdits::decline() {
    for (const auto& [name, text] : std::exchange(offered_, {})) put_aside(name);
}

void KeptEdits::put_aside(const std::string& name) const {
    std::error_code ignored;
    fs::rename(file(name), folder_ / (name + ".cu~"), ignored);
}

void KeptEdits::keep(KernelDocuments& documents, const KernelFolder& watched, bool now) {
    if (folder_.empty()) return;
    if (std::exchange(seen_, documents.version()) != documents.version()) changed_ = clock_();
    if (written_ == seen_ || (!now && clock_() < changed_ + left_alone)) return;
    written_ = seen_;
    compute::Sources fresh = documents.edited_sources();
    std::erase_if(fresh, [&](const auto& item) {
        const std::string* text = watched.taken(item.first);
        // Sources of launch files are saved to their own files.
        return KernelDocuments::shipped(item.first).empty() || (text && *text == item.second);
    });
    std::error_code ignored;
    for (const auto& [name, text] : fresh) {
        const auto known = kept_.find(name);
        if (known != kept_.end() && known->second == text) continue;
        const auto old = offered_.find(name);
        if (known == kept_.end() && (old == offered_.end() || old->second != text)) put_aside(name);
        offered_.erase(name);
        write_whole(file(name), text);
    }
    for (const auto& [name, text] : kept_)
        if (!fresh.contains(name) && !offered_.contains(name)) fs::remove(file(name), ignored);
    kept_ = std::move(fresh);
}

}  // namespace warpscope::ui
