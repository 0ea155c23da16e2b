#pragma once

#include <string>

namespace warpscope {

/// What `warpscope --help` prints after the options.
extern const char* const help_footer;

/// CLI11 leaves two empty lines between groups. The help has one, and says what may follow --.
std::string help_of(std::string cli11_help);

/// The message of an error of CLI11 in one line, reworded if it is too terse.
std::string one_line_of(std::string message);

}  // namespace warpscope
