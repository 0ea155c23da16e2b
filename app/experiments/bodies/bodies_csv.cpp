#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "compute/device/device.h"
#include "experiments/bodies/bodies_file.h"
#include "experiments/bodies/bodies_format.h"

namespace warpscope::experiments {
namespace {

constexpr std::string_view csv_fields[] = {"x", "y", "z", "vx", "vy", "vz", "mass"};
constexpr std::size_t field_count = std::size(csv_fields);

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r\f\v";
    const std::size_t first = text.find_first_not_of(blank);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> cells;
    while (true) {
        const std::size_t comma = line.find(',');
        cells.push_back(trimmed(line.substr(0, comma)));
        if (comma == line.npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

/// Accepts numbers and also "nan" and "inf", which the caller rejects with a message of its own.
bool parse(std::string_view cell, double& value) {
    if (cell.starts_with('+')) cell.remove_prefix(1);
    const char* end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    return error == std::errc() && stop == end;
}

RawBody parse_body(const std::vector<std::string_view>& cells, std::size_t line) {
    if (cells.size() != field_count)
        throw BodiesFileError(fmt::format("line {}: {} values, not the 7 of x,y,z,vx,vy,vz,mass",
                                          line, cells.size()));
    double values[field_count];
    for (std::size_t i = 0; i < field_count; ++i) {
        const auto refuse = [&](std::string_view why) {
            throw BodiesFileError(fmt::format("line {}: {} is \"{}\", {}", line, csv_fields[i],
                                              cells[i].substr(0, 40), why));
        };
        if (!parse(cells[i], values[i])) refuse("not a number");
        if (!std::isfinite(values[i])) refuse("not a finite number");
        if (std::abs(values[i]) > 1e30) refuse("too large for a float's arithmetic");
    }
    if (values[6] < 0)
        throw BodiesFileError(fmt::format("line {}: the mass is negative ({})", line, cells[6]));
    return {{values[0], values[1], values[2]}, {values[3], values[4], values[5]}, values[6]};
}

bool is_heading(const std::vector<std::string_view>& cells) {
    double value;
    return !cells[0].empty() && std::isalpha(static_cast<unsigned char>(cells[0][0])) &&
           !parse(cells[0], value);
}

}  // namespace

std::vector<RawBody> read_csv(std::string_view text, std::size_t most,
                              const std::stop_token& stop) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    std::vector<RawBody> bodies;
    bool heading_may_come = true;
    for (std::size_t line = 1; !text.empty(); ++line) {
        if (line % 4096 == 0) compute::throw_if_stopped(stop, "reading the file");
        const std::size_t end = text.find('\n');
        const std::string_view content = trimmed(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        if (content.empty() || content.starts_with('#')) continue;
        const auto cells = split(content);
        if (std::exchange(heading_may_come, false) && is_heading(cells)) continue;
        bodies.push_back(parse_body(cells, line));
        if (bodies.size() > most)
            throw BodiesFileError(fmt::format("line {}: more than {} bodies", line, most));
    }
    if (bodies.empty()) throw BodiesFileError("the file has no bodies");
    return bodies;
}

}  // namespace warpscope::experiments
