#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::ui {

class KernelDocument;

/// The files that are listed beside folders: those that end with ".cu", or of all kinds that the
/// window opens.
enum class PathFiles { sources, of_window };

/// The completions of a path that is being typed.
struct PathChoices {
    std::string common;  ///< the longest path that all choices begin with; at least the typed one
    /// Whole paths: folders, which end with a slash, then files, each sorted by name. At most 200.
    std::vector<std::string> choices;
};

/// "~/" means the home folder. There are no choices where the folder cannot be read.
PathChoices path_choices(const std::string& typed, PathFiles files = PathFiles::sources);

/// The path with its "~/" replaced by the home folder.
std::string with_home(const std::string& path);

/// Reads a kernel source as compiler::read_source_file() does. Throws std::runtime_error with a
/// sentence that names the file where that fails, where the file holds bytes of value 0, and for a
/// launch file, which is no source.
std::string read_kernel(const std::string& path);

/// Saves the document to a file, "~/" being the home folder. Throws what write_whole() throws.
void save_kernel(KernelDocument& document, const std::string& path);
/// Another program has changed the document's file since it was read or saved, so that saving would
/// replace what that program wrote.
bool is_changed_on_disk(const KernelDocument& document);

/// Writes `text` to `file` and makes the folders that it needs. Readers see either the old or the
/// whole new text. Throws std::runtime_error with the file and the reason.
void write_whole(const std::filesystem::path& file, std::string_view text);

}  // namespace warpscope::ui
