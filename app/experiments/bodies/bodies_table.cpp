#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "compute/device/device.h"
#include "experiments/bodies/bodies_columns.h"
#include "experiments/bodies/bodies_file.h"
#include "experiments/bodies/bodies_format.h"
#include "files/take_line.h"

namespace warpscope::experiments {
namespace {

using Cells = std::vector<std::string_view>;

constexpr std::string_view blanks = " \t\r\f\v";
constexpr double largest = 1e100;  ///< so that sums of products stay finite
constexpr std::string_view add_header =
    "write a first line with the names of the columns, such as \"mass x y z vx vy vz\" or "
    "\"x y z vx vy vz mass\"";

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

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_blank(char c) {
    return blanks.find(c) != blanks.npos;
}

/// True where blanks separate the values of a trimmed line, and commas stand within them: "1,5 2".
bool has_decimal_commas(std::string_view line) {
    std::size_t words = 1, commas = 0;  // the commas of one word
    bool within = true;
    for_unquoted(line, [&](std::size_t k) {
        const bool begins_word = is_blank(line[k]) && !is_blank(line[k - 1]);
        words += begins_word;
        commas = begins_word ? 0 : commas + (line[k] == ',');
        if (line[k] == ',')
            within = within && commas < 2 && k > 0 && is_digit(line[k - 1]) &&
                     k + 1 < line.size() && is_digit(line[k + 1]);
    });
    return within && words >= field_names.size();
}

/// A semicolon where the line has one, or "|" between seven values: its commas may belong to names
/// or numbers. Otherwise tab or comma, whichever the line has more of, or else blanks.
char separator_of(std::string_view line) {
    std::size_t semicolons = 0, bars = 0, tabs = 0, commas = 0;
    for_unquoted(line, [&](std::size_t k) {
        semicolons += line[k] == ';';
        bars += line[k] == '|';
        tabs += line[k] == '\t';
        commas += line[k] == ',';
    });
    if (semicolons > 0) return ';';
    if (bars + 1 >= field_names.size()) return '|';
    if (has_decimal_commas(line)) commas = 0;
    if (tabs > commas) return '\t';
    return commas > 0 ? ',' : ' ';
}

/// The cells of a trimmed line, without quotes. A separator may end the line, and "|" begin it.
Cells split(std::string_view line) {
    const char separator = separator_of(line);
    if (separator == '|' && line.starts_with('|')) line.remove_prefix(1);
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
        if (separator == ' ' ? is_blank(line[k]) : line[k] == separator) add(k);
    });
    if (begin < line.size()) add(line.size());
    return cells;
}

/// The cells of a line that is no comment. A comment may end it, but "#" may also be part of a
/// name.
Cells cells_of(std::string_view line) {
    std::size_t mark = line.npos;
    for_unquoted(line, [&](std::size_t k) {
        if (mark == line.npos && line[k] == '#' && is_blank(line[k - 1])) mark = k;
    });
    if (mark != line.npos)
        if (Cells before = split(trimmed(line.substr(0, mark))); before.size() >= 7) return before;
    return split(line);
}

/// Accepts numbers, with a point or a decimal comma, and also "nan" and "inf", which are refused
/// with a message of their own.
std::optional<double> number(std::string_view cell) {
    if (const std::size_t comma = cell.find(','); comma != cell.npos) {
        std::string with_point(cell);
        with_point[comma] = '.';
        // Two commas, or a comma and a point, group digits.
        return with_point.find_first_of(".,") == with_point.find_last_of(".,") ? number(with_point)
                                                                               : std::nullopt;
    }
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

/// A line of a table that only separates its header from its rows: "|---|:-:|".
bool is_rule(std::string_view line) {
    return line.find_first_not_of("-+=:| \t") == line.npos;
}

bool has_numbers(const Cells& cells) {
    return std::any_of(cells.begin(), cells.end(),
                       [](std::string_view cell) { return number(cell).has_value(); });
}

/// The first or the last column, which may hold the masses.
struct End {
    bool has_negative = false, has_positive = false;

    void add(double value) {
        has_negative |= value < 0;
        has_positive |= value > 0;
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
        if (content.empty() || is_rule(content)) return;
        if (content.starts_with('#')) {
            const std::size_t colon = content.find(':');  // "# columns: x y z …"
            const Cells cells =
                split(trimmed(content.substr(colon == content.npos ? 1 : colon + 1)));
            if (!columns_ && rows_.empty() && names_all(cells)) set_header(cells);
            return;
        }
        const Cells cells = cells_of(content);
        comma_separates_ = separator_of(content) == ',';
        if (!columns_ && rows_.empty() && !has_numbers(cells)) return set_header(cells);
        if (rows_.empty()) begin_rows(cells);
        add_row(cells);
    }

    RawBodies take() {
        if (rows_.empty()) throw BodiesFileError("the file has no bodies");
        if (!columns_) choose_order();
        if (has_comma_)
            said_ += (said_.empty() ? "" : " ") + std::string("Its commas are read as points.");
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
                fmt::format("line {}: {} values, not the 7 of a body, and no header: {}{}", line_,
                            cells.size(), add_header, too_many(cells)));
        first_ = name_first ? 1 : 0;
    }

    void add_row(const Cells& cells) {
        if (cells.size() != width_)
            throw BodiesFileError(
                fmt::format("line {}: {} values, not {} as in the {}{}", line_, cells.size(),
                            width_, columns_ ? "header" : "lines before", too_many(cells)));
        std::array<double, 7> values;
        for (std::size_t k = 0; k < 7; ++k) {
            const std::string_view cell = cells[columns_ ? columns_->places[k] : first_ + k];
            values[k] = value_of(
                cell, columns_ ? std::string(field_names[k]) : fmt::format("value {}", k + 1),
                line_);
            has_comma_ |= cell.find(',') != cell.npos;
            has_point_ |= cell.find('.') != cell.npos;
            if (has_comma_ && has_point_)
                throw BodiesFileError(
                    fmt::format("line {}: numbers have commas and numbers have points: write all "
                                "of them with points, such as 1234.5",
                                line_));
        }
        if (columns_ && values[mass_field] < 0)
            throw BodiesFileError(fmt::format("line {}: the mass is negative ({})", line_,
                                              cells[columns_->places[mass_field]]));
        if (!columns_) {
            front_.add(values.front());
            back_.add(values.back());
        }
        rows_.push_back(body_of(values));
        if (rows_.size() > most_)
            throw BodiesFileError(fmt::format("line {}: more than {} bodies", line_, most_));
    }

    /// What may be wrong with a line that has too many values.
    std::string_view too_many(const Cells& cells) const {
        return comma_separates_ && cells.size() > (columns_ ? width_ : field_names.size()) &&
                       cells.size() <= 2 * field_names.size()
                   ? "; or, if the commas are within the numbers, put semicolons between them"
                   : "";
    }

    static RawBody body_of(const std::array<double, 7>& v) {
        return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6]};
    }

    /// Chooses the order of the columns of a file without a header: a number below 0 in the first
    /// or the last column tells that the masses are in the other one.
    void choose_order() {
        const bool mass_first = front_.can_be_mass(), mass_last = back_.can_be_mass();
        if (mass_first && mass_last)
            throw BodiesFileError(fmt::format(
                "without a header it is not clear whether the masses are the first or the last "
                "column, as neither has a number below 0: {}",
                add_header));
        if (!mass_first && !mass_last)
            throw BodiesFileError(
                fmt::format("without a header the masses are looked for in the first and the last "
                            "column, and both have negative numbers or only 0: {}",
                            add_header));
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
    bool comma_separates_ = false;    ///< the values of the line
    bool has_comma_ = false, has_point_ = false;  ///< numbers have
    End front_, back_;                            ///< of the seven numbers, without a header
    std::vector<RawBody> rows_;
    std::string said_;
};

}  // namespace

RawBodies read_table(std::string_view text, std::size_t most, const std::stop_token& stop) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    Table table(most, stop);
    while (!text.empty()) table.add_line(trimmed(files::take_line(text)));
    return table.take();
}

}  // namespace warpscope::experiments
