#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::jobs {

/// The caller asked for something that can't be: names the argument and says what to do. Exit 2.
struct UsageError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Finds out, by trying, whether a file can be written at `path` and leaves nothing behind;
/// `argument` ("--screenshot") stands in the message. Throws UsageError.
void check_writable(const std::filesystem::path& path, std::string_view argument);

/// Writes the whole text or leaves what was there: a new file beside it takes its place.
/// What isn't a regular file (/dev/stdout, a pipe) is written straight. Throws std::runtime_error.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Writes to standard output and flushes it; throws std::runtime_error where that fails.
void print(std::string_view text);

/// The text in lines of at most `width` columns, broken at spaces and after '|'; UTF-8.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// "1 block", "3 blocks".
std::string plural(std::uint64_t n, std::string_view noun);

}  // namespace warpscope::jobs
