#include "ui/edits/edit_files.h"

#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "compiler/source_file.h"
#include "ui/documents/source_files.h"
#include "ui/language/language.h"
#include "ui/widgets/futures.h"

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

KernelFolder::KernelFolder(fs::path folder, fs::path source, std::string file, Clock clock)
    : folder_(std::move(folder)),
      source_(std::move(source)),
      source_file_(std::move(file)),
      clock_(std::move(clock)) {}

const std::string* KernelFolder::taken(const std::string& file) const {
    const auto found = taken_.find(file);
    return found == taken_.end() ? nullptr : &found->second;
}

void KernelFolder::say(const std::string& sentence) {
    news_.said += (news_.said.empty() ? "" : " ") + sentence;
    news_.trouble = true;
}

bool KernelFolder::is_time() {
    if (!watches() || clock_() < next_) return false;
    next_ = clock_() + pause;
    return true;
}

std::string KernelFolder::look(KernelDocuments& documents) {
    return is_time() ? take(read(), documents) : "";
}

std::string KernelFolder::look_beside(KernelDocuments& documents,
                                      const std::function<void()>& wake) {
    if (reading_.valid()) return is_ready(reading_) ? take(reading_.get(), documents) : "";
    if (is_time())
        reading_ = std::async(std::launch::async, [this, wake] {
            News news = read();
            if (!news.texts.empty() || !news.said.empty()) wake();
            return news;
        });
    return {};
}

std::string KernelFolder::take(News news, KernelDocuments& documents) {
    trouble_ = news.trouble;
    for (auto& [file, text] : news.texts) {
        documents[file].replace(text);
        documents[file].set_saved(news.paths[file]);
        taken_[file] = std::move(text);
    }
    return std::move(news.said);
}

KernelFolder::News KernelFolder::read() {
    now_.clear();
    news_ = {};
    if (!folder_.empty()) {
        std::error_code error;
        const bool gone = !fs::is_directory(folder_, error);
        if (gone && !folder_gone_)
            say(tr("The folder {} is gone: its kernels stay as they are until it is back.",
                   folder_.string()));
        if (!gone && folder_gone_) news_.said = tr("The folder {} is back.", folder_.string());
        folder_gone_ = gone;
        look_into(folder_, "");
        look_into(folder_ / "gallery", "gallery/");
    }
    if (!source_.empty()) now_[source_file_] = source_;
    for (const auto& [file, path] : now_) look_at(file, path);
    looked_ = true;
    return std::exchange(news_, {});
}

void KernelFolder::look_into(const fs::path& folder, const std::string& prefix) {
    std::error_code error;
    std::string strangers;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const fs::path& path = it->path();
        if (path.extension() != ".cu" || path.filename().string().starts_with('.')) continue;
        const std::string file = prefix + path.stem().string();
        if (!KernelDocuments::shipped(file).empty())
            now_[file] = path;
        else if (strangers_.emplace(path, true).second)
            strangers += (strangers.empty() ? "" : ", ") + path.filename().string();
    }
    if (!strangers.empty()) say(tr("No kernel file of Warpscope has this name: {}.", strangers));
}

void KernelFolder::look_at(const std::string& file, const fs::path& path) {
    Watched& watched = files_[file];
    if (std::exchange(watched.path, path) != path) watched.was_seen = watched.was_read = false;
    std::error_code error;
    Stamp stamp{fs::last_write_time(path, error), 0};
    if (!error) stamp.size = fs::file_size(path, error);
    const auto complain = [&](const std::string& words) {
        if (std::exchange(watched.complaint, words) != words) say(words);
    };
    if (error) {
        // A file that is being replaced is back at the next look.
        if (!std::exchange(watched.was_seen, false))
            complain(tr("{} can't be read: {}.", path.string(), error.message()));
        return;
    }
    const bool still = !looked_ || (watched.was_seen && stamp == watched.seen);
    watched.seen = stamp;
    watched.was_seen = true;
    if (!still || (watched.was_read && stamp == watched.read)) return;
    try {
        news_.texts[file] = compiler::read_source_file(path);
        news_.paths[file] = path.string();
        watched.read = stamp;
        watched.was_read = true;
        watched.complaint.clear();
    } catch (const std::runtime_error& problem) {
        complain(tr("{} can't be read: {}.", path.string(), problem.what()));
    }
}

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

EditFiles::EditFiles(Stage& stage, KernelFolder watched, const std::filesystem::path& kept,
                     std::function<void()> wake)
    : stage_(stage), watched_(std::move(watched)), kept_(kept), wake_(std::move(wake)) {
    say(watched_.look(stage_.documents()));
    if (offers()) stage_.say(tr("Unsaved edits to {} found.", offered()));
}

std::string EditFiles::offered() const {
    std::string names;
    for (const auto& [file, text] : kept_.offered())
        names += (names.empty() ? "" : ", ") + std::as_const(stage_).documents().name_of(file);
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
