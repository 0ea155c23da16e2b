#pragma once

#include <string>
#include <vector>

namespace warpscope::ui {

/// What a path that is being typed may go on to: whole paths, folders with a slash at their end.
struct PathChoices {
    std::string common;                ///< what all of them begin with: the typed path, or longer
    std::vector<std::string> choices;  ///< folders, then .cu files, each by name; 200 at most
};

/// "~/" stands for the home folder. Nothing where the folder can't be read.
PathChoices path_choices(const std::string& typed);

/// "~/a" with the home folder.
std::string with_home(const std::string& path);

/// Reads a kernel source as compiler::read_source_file() does. Throws std::runtime_error with a
/// sentence that names the file where that fails or where the file holds bytes of value 0.
std::string read_kernel(const std::string& path);

}  // namespace warpscope::ui
