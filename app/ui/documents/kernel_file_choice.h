#pragma once

#include <string>
#include <vector>

namespace warpscope::ui {

/// The completions of a path that is being typed.
struct PathChoices {
    std::string common;  ///< the longest path that all choices begin with; at least the typed one
    /// Whole paths: folders, which end with a slash, then .cu files, each sorted by name. At most
    /// 200.
    std::vector<std::string> choices;
};

/// "~/" means the home folder. There are no choices where the folder cannot be read.
PathChoices path_choices(const std::string& typed);

/// The path with its "~/" replaced by the home folder.
std::string with_home(const std::string& path);

/// Reads a kernel source as compiler::read_source_file() does. Throws std::runtime_error with a
/// sentence that names the file where that fails, where the file holds bytes of value 0, and for a
/// launch file, which is no source.
std::string read_kernel(const std::string& path);

}  // namespace warpscope::ui
