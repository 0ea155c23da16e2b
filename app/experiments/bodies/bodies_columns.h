#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::experiments {

inline constexpr std::array<std::string_view, 7> field_names = {"x",  "y",  "z",   "vx",
                                                                "vy", "vz", "mass"};
inline constexpr std::size_t mass_field = 6;

/// Where a table of bodies has the values of a body.
struct Columns {
    std::array<std::size_t, 7> places = {0, 1, 2, 3, 4, 5, 6};  ///< by field
    /// By field: the column's unit in metres, metres per second and kilograms; empty if the header
    /// has no units.
    std::optional<std::array<double, 7>> units;
    std::vector<std::string> ignored;  ///< names of the other columns
};

/// True where a comment is the header: it names all fields.
bool names_all(std::span<const std::string_view> cells);

/// Reads names such as `x`, `pos_x`, `vx`, `vel_x`, `m`, `Mass`, perhaps with a unit: `x [km]`,
/// `mass (kg)`, `vx_km_s`. Throws BodiesFileError that begins "line 3: …": a field has no column or
/// two of them, or some columns have a known unit and others have none.
Columns read_header(std::span<const std::string_view> cells, std::size_t line);

}  // namespace warpscope::experiments
