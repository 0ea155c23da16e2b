#pragma once

#include <cstddef>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::jobs {

/// An argument can't be used. The message names it and says what to do; the exit code is 2.
struct UsageError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Tries to create a file at `path` and removes it again. Throws UsageError, with `argument`
/// ("--screenshot") in the message, if that fails.
void check_writable(const std::filesystem::path& path, std::string_view argument);

/// Writes the whole text, or leaves the old file unchanged: it writes a new file in the same folder
/// and renames it. Writes directly to /dev/stdout, pipes and other files that are not regular.
/// Throws std::runtime_error.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Writes to standard output and flushes it; throws std::runtime_error if that fails.
void print(std::string_view text);

/// The text with "\x1b" for an ESC, and so on for every other control character but newlines and
/// tabs, and for bytes that are no UTF-8: terminals obey them.
std::string visible(std::string_view text);

/// Writes visible(text) to standard error.
void print_error(std::string_view text);

/// Prints the message as one line on standard error, even if it has newlines. Returns `code`.
int complain(std::string text, int code);

/// Errors that the caller can mend: a parameter, an experiment, a path or a file.
bool is_of_caller(const std::exception& e);

/// Columns of UTF-8 text, and the text cut to at most `most` columns.
std::size_t columns(std::string_view text);
std::string first_columns(std::string_view text, std::size_t most);

/// The UTF-8 text in lines of at most `width` columns, broken at spaces and after '|'.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace warpscope::jobs
