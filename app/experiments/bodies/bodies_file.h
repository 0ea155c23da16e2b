#pragma once

#include <filesystem>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "experiments/bodies/bodies.h"

namespace warpscope::experiments {

/// A file of bodies that cannot be loaded. The message is one line: path, byte offset or line
/// number, and cause.
struct BodiesFileError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A loaded file and the units in which its bodies are held.
struct LoadedBodies {
    Bodies bodies;
    double mass_unit = 1;    ///< our unit of mass in the file's unit
    double length_unit = 1;  ///< our unit of length in the file's unit
    double total_mass = 0;   ///< in the file's unit
    bool is_si = false;      ///< the file's units are metres, metres per second and kilograms
    std::string said;        ///< sentences about how the file was read; may be empty
    /// The gravitational constant in the file's units.
    double gravity() const { return is_si ? newton_si : 1; }
    static constexpr double newton_si = 6.6743e-11;  ///< CODATA 2018
};

/// Reads a tipsy binary (either byte order, with or without the 4 bytes of padding behind the
/// header; https://github.com/N-BodyShop/tipsy) or a text with a body in each line, whose numbers
/// stand between commas, semicolons, tabs, blanks or bars, with a point or a decimal comma. The
/// content decides, not the file name.
///
/// A header (a first line without numbers, or a comment) names the columns in any order, and
/// perhaps their units: see read_header(). Without one, a line has x, y, z, vx, vy, vz, mass or
/// mass, x, y, z, vx, vy, vz, perhaps with a name at one of its ends: a negative number in the
/// first or the last column tells which; without one the file is refused. Empty lines and lines
/// that begin with # are skipped.
///
/// The numbers of a header with units are converted to SI units. Without units, a largest mass of
/// 1e20 or more is taken as kilograms, and then the other numbers as metres and metres per second,
/// if the speeds fit. Other files have units with G = 1. The bodies are then scaled, which changes
/// no orbit: total mass 1, centre of mass at rest in the origin, 90 % of the bodies within a radius
/// of 1. Throws BodiesFileError: unreadable, truncated or too long, NaN or infinity, a negative
/// mass, no bodies, more than `most`; and compute::Cancelled soon after a stop request.
LoadedBodies load_bodies(const std::filesystem::path& path, std::size_t most,
                         const std::stop_token& stop = {});

/// About how many bodies a file holds, judged by its size and first bytes. 0: it can't be read.
double estimated_bodies(const std::filesystem::path& path);

}  // namespace warpscope::experiments
