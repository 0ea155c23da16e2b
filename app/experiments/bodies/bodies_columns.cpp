#include "experiments/bodies/bodies_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "experiments/bodies/bodies_file.h"

namespace warpscope::experiments {
namespace {

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

}  // namespace

bool names_all(std::span<const std::string_view> cells) {
    std::array<bool, field_names.size()> named{};
    for (const std::string_view cell : cells)
        if (const auto field = column_of(cell).field) named[*field] = true;
    return std::all_of(named.begin(), named.end(), [](bool is) { return is; });
}

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

}  // namespace warpscope::experiments
