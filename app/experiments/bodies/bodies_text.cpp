#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "experiments/bodies/bodies_file.h"
#include "experiments/bodies/bodies_text.h"
#include "files/text.h"

namespace warpscope::experiments {
namespace {

constexpr std::array<std::string_view, 7> field_names = {"x", "y", "z", "vx", "vy", "vz", "mass"};

constexpr std::size_t mass_field = 6;
/// Where a table of bodies has the values of a body.
struct Columns {
    std::array<std::size_t, 7> places = {0, 1, 2, 3, 4, 5, 6};  ///< by field
    /// By field: the column's unit in metres, metres per second and kilograms; empty if the header
    /// has no units.
    std::optional<std::array<double, 7>> units;
    std::vector<std::string> ignored;  ///< names of the other columns
};

enum class Quantity { length, speed, mass };

struct Unit {
    std::string_view name;
    Quantity quantity;
    double si;  ///< in metres, metres per second or kilograms
};
/// The astronomical unit and the parsec of the IAU, a Julian year of 365.25 days, the mass of the
/// sun by its GM (IAU 2015 resolution B3) and G of CODATA 2018.
constexpr double au = 1.495978707e11, parsec = 3.0856775814913673e16, day = 86400;
constexpr Unit all_units[] = {{"m", Quantity::length, 1},
                              {"km", Quantity::length, 1e3},
                              {"cm", Quantity::length, 1e-2},
                              {"au", Quantity::length, au},
                              {"pc", Quantity::length, parsec},
                              {"kpc", Quantity::length, 1e3 * parsec},
                              {"mpc", Quantity::length, 1e6 * parsec},
                              {"m/s", Quantity::speed, 1},
                              {"km/s", Quantity::speed, 1e3},
                              {"cm/s", Quantity::speed, 1e-2},
                              {"au/day", Quantity::speed, au / day},
                              {"au/d", Quantity::speed, au / day},
                              {"au/yr", Quantity::speed, au / (365.25 * day)},
                              {"au/year", Quantity::speed, au / (365.25 * day)},
                              {"kg", Quantity::mass, 1},
                              {"g", Quantity::mass, 1e-3},
                              {"msun", Quantity::mass, 1.988409870698051e30}};

Quantity quantity_of(std::size_t field) {
    return field < 3 ? Quantity::length : field < mass_field ? Quantity::speed : Quantity::mass;
}

/// Returns the text in lower case, without the characters in `without`.
std::string simple(std::string_view text, std::string_view without) {
    std::string out;
    for (const char c : text)
        if (without.find(c) == without.npos)
            out += char(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::optional<std::size_t> field_of(std::string_view column) {
    const std::string name = simple(column, " _.-");
    for (const char* mass : {"m", "mass", "masses"})
        if (name == mass) return mass_field;
    for (std::size_t k = 0; k < 3; ++k) {
        const char axis = "xyz"[k];
        for (const char* form : {"{}", "p{}", "r{}", "pos{}", "position{}", "{}pos", "{}position"})
            if (name == fmt::format(fmt::runtime(form), axis)) return k;
        for (const char* form : {"v{}", "vel{}", "velocity{}", "{}vel", "{}velocity", "{}dot"})
            if (name == fmt::format(fmt::runtime(form), axis)) return 3 + k;
    }
    return {};
}

const Unit* unit_of(std::string_view text, Quantity quantity) {
    const std::string name = simple(text, " ^*");
    const auto found = std::find_if(std::begin(all_units), std::end(all_units), [&](const Unit& u) {
        return u.quantity == quantity && u.name == name;
    });
    return found == std::end(all_units) ? nullptr : found;
}

struct Column {
    std::optional<std::size_t> field;  ///< none: not one of a body's values
    const Unit* unit = nullptr;
    std::string unknown_unit;
};

Column column_of(std::string_view cell) {
    if (const auto field = field_of(cell)) return {field, nullptr, {}};
    // "x [km]", "mass(kg)"
    if (const std::size_t open = cell.find_first_of("[("); open != cell.npos) {
        const auto field = field_of(cell.substr(0, open));
        if (!field) return {};
        std::string_view unit = cell.substr(open + 1);
        unit = unit.substr(0, unit.find_first_of("])"));
        const Unit* const known = unit_of(unit, quantity_of(*field));
        return {field, known, known ? "" : std::string(unit)};
    }
    // "vx_km_s", "mass_kg"
    for (std::size_t at = cell.find('_'); at != cell.npos; at = cell.find('_', at + 1)) {
        std::string unit(cell.substr(at + 1));
        std::replace(unit.begin(), unit.end(), '_', '/');
        const auto field = field_of(cell.substr(0, at));
        const Unit* const known = field ? unit_of(unit, quantity_of(*field)) : nullptr;
        if (known) return {field, known, {}};
    }
    return {};
}

/// True where a comment is the header: it names all fields.
bool names_all(std::span<const std::string_view> cells) {
    std::array<bool, field_names.size()> named{};
    for (const std::string_view cell : cells)
        if (const auto field = column_of(cell).field) named[*field] = true;
    return std::all_of(named.begin(), named.end(), [](bool is) { return is; });
}

/// Reads names such as `x`, `pos_x`, `vx`, `vel_x`, `m`, `Mass`, perhaps with a unit: `x [km]`,
/// `mass (kg)`, `vx_km_s`. Throws BodiesFileError that begins "line 3: …": a field has no column or
/// two of them, or some columns have a known unit and others have none.
Columns read_header(std::span<const std::string_view> cells, std::size_t line) {
    constexpr std::size_t none = ~std::size_t(0);
    const auto refuse = [line](const std::string& why) {
        throw BodiesFileError(fmt::format("line {}: {}", line, why));
    };
    Columns columns;
    columns.places.fill(none);
    std::array<double, field_names.size()> units{};
    std::size_t with_unit = 0;
    for (std::size_t k = 0; k < cells.size(); ++k) {
        const auto [field, unit, unknown_unit] = column_of(cells[k]);
        if (!unknown_unit.empty())
            refuse(
                fmt::format("the unit \"{}\" is not known: use m, km, cm, au, pc, kpc or Mpc; "
                            "m/s, km/s, cm/s, au/day or au/yr; kg, g or Msun",
                            unknown_unit));
        if (!field) {
            columns.ignored.emplace_back(cells[k].substr(0, 40));
            continue;
        }
        if (columns.places[*field] != none)
            refuse(fmt::format("columns {} and {} are both {}: rename one",
                               columns.places[*field] + 1, k + 1, field_names[*field]));
        columns.places[*field] = k;
        units[*field] = unit ? unit->si : 0;
        with_unit += unit != nullptr;
    }
    for (std::size_t field = 0; field < field_names.size(); ++field)
        if (columns.places[field] == none)
            refuse(fmt::format("the header \"{}\" has no column {}: it needs {}",
                               fmt::format("{}", fmt::join(cells, ",")).substr(0, 60),
                               field_names[field], fmt::join(field_names, ", ")));
    if (with_unit > 0 && with_unit < field_names.size())
        refuse("some columns have a unit and others have none: give one to each of the seven");
    if (with_unit > 0) columns.units = units;
    return columns;
}

using Cells = std::vector<std::string_view>;

constexpr std::string_view blanks = " \t\r\f\v";
constexpr double largest = 1e100;  ///< so that sums of products stay finite
constexpr std::string_view add_header =
    "write a first line with the names of the columns, such as \"mass x y z vx vy vz\" or "
    "\"x y z vx vy vz mass\"";

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
            within = within && commas < 2 && k > 0 && files::is_digit(line[k - 1]) &&
                     k + 1 < line.size() && files::is_digit(line[k + 1]);
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
        std::string_view cell = files::trimmed(line.substr(begin, end - begin));
        begin = end + 1;
        if (separator == ' ' && cell.empty()) return;
        if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"')
            cell = files::trimmed(cell.substr(1, cell.size() - 2));
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
        if (Cells before = split(files::trimmed(line.substr(0, mark))); before.size() >= 7)
            return before;
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
class TableReader {
  public:
    TableReader(std::size_t most, const std::stop_token& stop) : most_(most), stop_(stop) {}

    void add_line(std::string_view content) {
        ++line_;
        if (line_ % 4096 == 0) compute::throw_if_stopped(stop_, "reading the file");
        if (content.empty() || is_rule(content)) return;
        if (content.starts_with('#')) {
            const std::size_t colon = content.find(':');  // "# columns: x y z …"
            const Cells cells =
                split(files::trimmed(content.substr(colon == content.npos ? 1 : colon + 1)));
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
    TableReader table(most, stop);
    while (!text.empty()) table.add_line(files::trimmed(files::take_line(text)));
    return table.take();
}

}  // namespace warpscope::experiments
