#include "ui/documents/source_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "compiler/source_file.h"
#include "experiments/lessons/lesson.h"
#include "files/regular_file.h"
#include "launches/files/file_kind.h"
#include "ui/documents/kernel_documents.h"
#include "ui/language/language.h"

namespace warpscope::ui {
namespace {

using launches::FileKind;

constexpr std::size_t most_choices = 200;

std::size_t end_of_folder(const std::string& path) {
    return path.rfind('/') + 1;  // npos + 1 is 0
}

/// Whether the window opens files of this kind. Bodies in files with other names are opened, too,
/// but their names say nothing.
bool opens(const std::filesystem::path& file) {
    const FileKind kind = launches::file_kind(file);
    if (kind != FileKind::page) return kind != FileKind::unknown && kind != FileKind::json;
    try {
        experiments::read_lesson(file);
        return true;
    } catch (const std::exception&) {
        return false;  // most pages are no lessons
    }
}

std::vector<std::string> entries(const std::string& folder, const std::string& begin,
                                 PathFiles which) {
    std::vector<std::string> folders, files;
    std::error_code error;
    const std::string where = folder.empty() ? "." : with_home(folder);
    for (std::filesystem::directory_iterator at(where, error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(begin) || (name.starts_with('.') && begin.empty())) continue;
        std::error_code gone;
        if (at->is_directory(gone))
            folders.push_back(folder + name + "/");
        else if (which == PathFiles::sources ? launches::file_kind(at->path()) == FileKind::source
                                             : opens(at->path()))
            files.push_back(folder + name);
    }
    std::sort(folders.begin(), folders.end());
    std::sort(files.begin(), files.end());
    folders.insert(folders.end(), files.begin(), files.end());
    return folders;
}

}  // namespace

std::string with_home(const std::string& path) {
    const char* home = std::getenv("HOME");
    return home && *home && path.starts_with("~/") ? home + path.substr(1) : path;
}

PathChoices path_choices(const std::string& typed, PathFiles files) {
    const std::size_t split = end_of_folder(typed);
    PathChoices result{typed, entries(typed.substr(0, split), typed.substr(split), files)};
    if (result.choices.empty()) return result;
    result.common = result.choices.front();
    for (const std::string& one : result.choices) {
        const std::size_t shorter = std::min(one.size(), result.common.size());
        const auto end = result.common.begin() + std::ptrdiff_t(shorter);
        const auto differs = std::mismatch(result.common.begin(), end, one.begin()).first;
        result.common.erase(differs, result.common.end());
    }
    if (result.choices.size() > most_choices) result.choices.resize(most_choices);
    return result;
}

std::string read_kernel(const std::string& path) {
    if (launches::file_kind(path) == FileKind::launch_file)
        throw std::runtime_error(
            tr("{} is a launch file, which has no source: open it with Open.", path));
    std::string text;
    try {
        text = compiler::read_source_file(with_home(path));
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(tr("Cannot open {}: {}.", path, error.what()));
    }
    if (text.find('\0') != std::string::npos)
        throw std::runtime_error(
            tr("Cannot open {}: it holds bytes of value 0, so it is not a text.", path));
    return text;
}

void save_kernel(KernelDocument& document, const std::string& path) {
    const std::string file = std::filesystem::absolute(with_home(path)).lexically_normal().string();
    write_whole(file, document.text());
    document.set_saved(file);
}

bool is_changed_on_disk(const KernelDocument& document) {
    std::error_code error;
    if (document.path().empty() || !std::filesystem::exists(document.path(), error)) return false;
    try {
        return compiler::read_source_file(document.path()) != document.saved_text();
    } catch (const std::runtime_error&) {
        return false;  // saving says what is wrong with the file
    }
}

void write_whole(const std::filesystem::path& file, std::string_view text) {
    std::error_code ignored;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    try {
        files::write_whole_file(file, text);
    } catch (const std::system_error& error) {
        throw std::runtime_error(tr("cannot write {}: {}", file.string(), error.code().message()));
    }
}

}  // namespace warpscope::ui
