#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::programs {

/// A line of a script that an interpreter runs.
struct ScriptLine {
    std::string file;
    int line = 0;
    auto operator<=>(const ScriptLine&) const = default;
};

/// Reads the lines at which this thread is in a script of Python, for lines_of_script(). Takes the
/// interpreter's lock, so the caller must hold no lock for which code of Python may wait.
void read_lines_of_script();
/// What this thread has read last: the innermost line of the user's own, and that of its caller;
/// empty where no Python runs.
const std::vector<ScriptLine>& lines_of_script();

/// Whether a library is of the interpreter or of an installed package, whose calls are those of the
/// script that uses it.
bool is_of_interpreter(std::string_view library);

}  // namespace warpscope::programs
