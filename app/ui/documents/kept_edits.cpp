#include "ui/documents/kept_edits.h"

#include <stdexcept>
#include <system_error>
#include <utility>

#include "compiler/source_file.h"
#include "ui/documents/text_file.h"

namespace warpscope::ui {

namespace fs = std::filesystem;

namespace {

/// The kept edits of sources that are not built in are here, each by the path of its file.
constexpr const char* files_folder = "files";

/// A path as the name of one file.
std::string as_name(const std::string& path) {
    std::string name;
    for (const char c : path) name += c == '/' ? "%s" : c == '%' ? "%p" : std::string(1, c);
    return name;
}

std::string as_path(const std::string& name) {
    std::string path;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool escaped = name[i] == '%' && i + 1 < name.size();
        path += !escaped ? name[i] : name[++i] == 's' ? '/' : '%';
    }
    return path;
}

}  // namespace

KeptEdits::KeptEdits(fs::path folder, Clock clock)
    : folder_(std::move(folder)), clock_(std::move(clock)) {
    if (folder_.empty()) return;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().extension() != ".cu") continue;
        std::string name = it->path().lexically_relative(folder_).replace_extension().string();
        const std::string_view shipped = KernelDocuments::shipped(name);
        const bool of_file = it->path().parent_path() == folder_ / files_folder;
        if (shipped.empty() && !of_file) continue;
        try {
            std::string text = compiler::read_source_file(it->path());
            if (of_file)
                of_files_[as_path(it->path().stem().string())] = std::move(text);
            else if (text != shipped)
                offered_[std::move(name)] = std::move(text);
        } catch (const std::runtime_error&) {
            // A file that cannot be read is not offered. It stays until an edit takes its name, and
            // is then renamed.
        }
    }
}

fs::path KeptEdits::file(const std::string& name) const {
    const auto own = paths_.find(name);
    if (own != paths_.end()) return folder_ / files_folder / (as_name(own->second) + ".cu");
    return folder_ / (name + ".cu");
}

void KeptEdits::follow(const KernelDocuments& documents) {
    if (of_files_.empty()) return;
    for (const auto& [name, text] : documents.texts()) {
        const std::string& path = documents.find(name)->path();
        const auto found = of_files_.find(path);
        if (found == of_files_.end() || !KernelDocuments::shipped(name).empty()) continue;
        paths_[name] = path;
        if (found->second != *text) offered_[name] = found->second;
        of_files_.erase(found);
    }
}

void KeptEdits::decline() {
    for (const auto& [name, text] : std::exchange(offered_, {})) put_aside(name);
}

void KeptEdits::put_aside(const std::string& name) const {
    std::error_code ignored;
    fs::rename(file(name), file(name).string() + "~", ignored);
}

void KeptEdits::keep(KernelDocuments& documents, const KernelFolder& watched, bool now) {
    if (folder_.empty()) return;
    if (std::exchange(seen_, documents.version()) != documents.version()) changed_ = clock_();
    if (written_ == seen_ || (!now && clock_() < changed_ + left_alone)) return;
    written_ = seen_;
    compute::Sources fresh = documents.edited_sources();
    std::erase_if(fresh, [&](const auto& item) {
        const std::string* text = watched.taken(item.first);
        const bool built_in = !KernelDocuments::shipped(item.first).empty();
        const std::string& path = documents[item.first].path();
        if (!built_in) paths_[item.first] = path;
        return (!built_in && path.empty()) || (text && *text == item.second);
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
