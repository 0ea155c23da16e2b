#pragma once

#include <exception>
#include <string>

namespace warpscope {

/// Prints the message as one line on standard error, even if it has newlines. Returns `code`.
int complain(std::string text, int code);

/// Errors that the caller can mend: a parameter, an experiment, a path or a file.
bool is_of_caller(const std::exception& e);

}  // namespace warpscope
