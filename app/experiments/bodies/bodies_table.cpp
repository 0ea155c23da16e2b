#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/take_line.h"
#include "compute/device/device.h"
#include "experiments/bodies/bodies_columns.h"
#include "experiments/bodies/bodies_file.h"
#include "experiments/bodies/bodies_format.h"

namespace warpscope::experiments {
namespace {

using Cells = std::vector<std::string_view>;

constexpr std::string_view blanks = " \t\r\f\v";
constexpr double largest = 1e100;  ///< so that sums of products stay finite
constexpr std::string_view add_header =
    "write a first line with the names of the columns, such as \"x,y,z,vx,vy,vz,mass\"";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Calls f(position) for each character outside of quotes.
template <typename F>
void for_unquoted(std::string_view line, F&& f) {
    bool quoted = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        if (line[k] == '"')
            quoted = !quoted;
        else if (!quoted)
            f(k);
    }
}

/// A semicolon where the line has one: its commas may belong to names. Otherwise tab or comma,
/// whichever the line has more of, or else blanks.
char separator_of(std::string_view line) {
    std::size_t semicolons = 0, tabs = 0, commas = 0;
    for_unquoted(line, [&](std::size_t k) {
        semicolons += line[k] == ';';
        tabs += line[k] == '\t';
        commas += line[k] == ',';
    });
    if (semicolons > 0) return ';';
    if (tabs > commas) return '\t';
    return commas > 0 ? ',' : ' ';
}

/// The cells of a trimmed line, without quotes. A separator may end the line.
Cells split(std::string_view line) {
    const char separator = separator_of(line);
    Cells cells;
    std::size_t begin = 0;
    const auto add = [&](std::size_t end) {
        std::string_view cell = trimmed(line.substr(begin, end - begin));
        begin = end + 1;
        if (separator == ' ' && cell.empty()) return;
        if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"')
            cell = trimmed(cell.substr(1, cell.size() - 2));
        cells.push_back(cell);
    };
    for_unquoted(line, [&](std::size_t k) {
        if (separator == ' ' ? blanks.find(line[k]) != blanks.npos : line[k] == separator) add(k);
    });
    if (begin < line.size()) add(line.size());
    return cells;
}

/// The cells of a line that is no comment. A comment may end it, but "#" may also be part of a
/// name.
Cells cells_of(std::string_view line) {
    std::size_t mark = line.npos;
    for_unquoted(line, [&](std::size_t k) {
        if (mark == line.npos && line[k] == '#' && blanks.find(line[k - 1]) != blanks.npos)
            mark = k;
    });
    if (mark != line.npos)
        if (Cells before = split(trimmed(line.substr(0, mark))); before.size() >= 7) return before;
    return split(line);
}

/// Accepts numbers and also "nan" and "inf", which are refused with a message of their own.
std::optional<double> number(std::string_view cell) {
    if (cell.starts_with('+')) cell.remove_prefix(1);
    double value = 0;
    const char* end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    if (stop != end || cell.empty() || error == std::errc::invalid_argument) return {};
    // A number that is too small for a double is 0; one that is too large is refused later.
    if (error == std::errc::result_out_of_range)
        return cell.find("e-") != cell.npos || cell.find("E-") != cell.npos
                   ? 0
                   : std::numeric_limits<double>::max();
    return value;
}

double value_of(std::string_view cell, std::string_view column, std::size_t line) {
    const auto refuse = [&](std::string_view why) {
        throw BodiesFileError(
            fmt::format("line {}: {} is \"{}\", {}", line, column, cell.substr(0, 40), why));
    };
    const std::optional<double> value = number(cell);
    if (!value) refuse("not a number");
    if (!std::isfinite(*value)) refuse("not a finite number");
    if (std::abs(*value) > largest) refuse("too large: choose larger units");
    return *value;
}

bool has_numbers(const Cells& cells) {
    return std::any_of(cells.begin(), cells.end(),
                       [](std::string_view cell) { return number(cell).has_value(); });
}

/// The first or the last column, which may hold the masses.
struct End {
    bool has_negative = false, has_zero = false, has_positive = false, is_constant = true;
    double first = 0;

    void add(double value, bool is_first) {
        has_negative |= value < 0;
        has_zero |= value == 0;
        has_positive |= value > 0;
        if (is_first) first = value;
        is_constant &= value == first;
    }
    bool can_be_mass() const { return !has_negative && has_positive; }
};

/// Reads the lines of a file: first perhaps a header, then one body a line.
class Table {
  public:
    Table(std::size_t most, const std::stop_token& stop) : most_(most), stop_(stop) {}

    void add_line(std::string_view content) {
        ++line_;
        if (line_ % 4096 == 0) compute::throw_if_stopped(stop_, "reading the file");
        if (content.empty()) return;
        if (content.starts_with('#')) {
            const std::size_t colon = content.find(':');  // "# columns: x y z …"
            const Cells cells =
                split(trimmed(content.substr(colon == content.npos ? 1 : colon + 1)));
            if (!columns_ && rows_.empty() && names_all(cells)) set_header(cells);
            return;
        }
        const Cells cells = cells_of(content);
        if (!columns_ && rows_.empty() && !has_numbers(cells)) return set_header(cells);
        if (rows_.empty()) begin_rows(cells);
        add_row(cells);
    }

    RawBodies take() {
        if (rows_.empty()) throw BodiesFileError("the file has no bodies");
        if (!columns_) choose_order();
        if (columns_->units) convert();
        return {std::move(rows_), columns_->units.has_value(), said_};
    }

  private:
    void set_header(const Cells& cells) {
        columns_ = read_header(cells, line_);
        width_ = cells.size();
        said_ = columns_->ignored.empty()
                    ? ""
                    : fmt::format("Ignored columns: {}.", fmt::join(columns_->ignored, ", "));
    }

    /// Without a header: seven numbers, with a name before or behind them.
    void begin_rows(const Cells& cells) {
        if (columns_) return;
        width_ = cells.size();
        const bool name_first = cells.size() == 8 && !number(cells.front());
        const bool name_last = cells.size() == 8 && !name_first && !number(cells.back());
        if (cells.size() != 7 && !name_first && !name_last)
            throw BodiesFileError(
                fmt::format("line {}: {} values, not the 7 of a body, and no header: {}", line_,
                            cells.size(), add_header));
        first_ = name_first ? 1 : 0;
    }

    void add_row(const Cells& cells) {
        if (cells.size() != width_)
            throw BodiesFileError(fmt::format("line {}: {} values, not {} as in the {}", line_,
                                              cells.size(), width_,
                                              columns_ ? "header" : "lines before"));
        std::array<double, 7> values;
        for (std::size_t k = 0; k < 7; ++k)
            values[k] = columns_
                            ? value_of(cells[columns_->places[k]], field_names[k], line_)
                            : value_of(cells[first_ + k], fmt::format("value {}", k + 1), line_);
        if (columns_ && values[mass_field] < 0)
            throw BodiesFileError(fmt::format("line {}: the mass is negative ({})", line_,
                                              cells[columns_->places[mass_field]]));
        if (!columns_) {
            front_.add(values.front(), rows_.empty());
            back_.add(values.back(), rows_.empty());
        }
        rows_.push_back(body_of(values));
        if (rows_.size() > most_)
            throw BodiesFileError(fmt::format("line {}: more than {} bodies", line_, most_));
    }

    static RawBody body_of(const std::array<double, 7>& v) {
        return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6]};
    }

    /// Chooses the order of the columns of a file without a header. Positions and velocities are
    /// mostly negative or 0 somewhere, and masses often are equal; where that does not tell them
    /// apart, a header has to.
    void choose_order() {
        bool mass_first = front_.can_be_mass();
        const bool mass_last = back_.can_be_mass();
        if (mass_first && mass_last) {
            const bool zeros_tell = front_.has_zero != back_.has_zero;
            if (!zeros_tell && (front_.is_constant == back_.is_constant || rows_.size() < 3))
                throw BodiesFileError(fmt::format(
                    "without a header it is not clear whether the masses are the first or the last "
                    "column: {}",
                    add_header));
            mass_first = zeros_tell ? back_.has_zero : front_.is_constant;
        } else if (!mass_first && !mass_last) {
            throw BodiesFileError(
                fmt::format("without a header the masses are looked for in the first and the last "
                            "column, and both have negative numbers or only 0: {}",
                            add_header));
        }
        columns_.emplace();
        said_ = fmt::format("The file has no header: by its values, the columns are {}.",
                            mass_first ? "mass, x, y, z, vx, vy, vz" : "x, y, z, vx, vy, vz, mass");
        if (!mass_first) return;
        for (RawBody& body : rows_) {
            const auto [x, v, mass, luminosity] = body;
            body = body_of({x[1], x[2], v[0], v[1], v[2], mass, x[0]});
        }
    }

    void convert() {
        const std::array<double, 7>& unit = *columns_->units;
        for (RawBody& body : rows_) {
            for (std::size_t k = 0; k < 3; ++k) {
                body.position[k] *= unit[k];
                body.velocity[k] *= unit[3 + k];
            }
            body.mass *= unit[mass_field];
        }
    }

    std::size_t most_;
    const std::stop_token& stop_;
    std::size_t line_ = 0;
    std::optional<Columns> columns_;  ///< of the header
    std::size_t width_ = 0;           ///< cells of a line
    std::size_t first_ = 0;           ///< without a header: the cell of the first number
    End front_, back_;                ///< of the seven numbers, without a header
    std::vector<RawBody> rows_;
    std::string said_;
};

}  // namespace

RawBodies read_table(std::string_view text, std::size_t most, const std::stop_token& stop) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    Table table(most, stop);
    while (!text.empty()) table.add_line(trimmed(compiler::take_line(text)));
    return table.take();
}

}  // namespace warpscope::experiments
