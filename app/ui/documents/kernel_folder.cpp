#include "ui/documents/kernel_folder.h"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>
#include <utility>

#include "compiler/source_file.h"
#include "ui/language/language.h"

namespace warpscope::ui {

namespace fs = std::filesystem;

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
    if (reading_.valid()) {
        const bool ready = reading_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        return ready ? take(reading_.get(), documents) : "";
    }
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

}  // namespace warpscope::ui
