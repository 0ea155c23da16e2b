#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/bodies/bodies.h"

namespace warpscope::experiments {

/// A body in its file's units.
struct RawBody {
    Vector position{};
    Vector velocity{};
    double mass = 0;
    float luminosity = 1;
};

/// The bodies of a file.
struct RawBodies {
    std::vector<RawBody> bodies;
    bool is_si = false;  ///< in metres, metres per second and kilograms, as the file says
    std::string said;    ///< sentences about how the file was read; may be empty
};

/// A text with a body in each line, see load_bodies. Throws BodiesFileError that begins "line 3: …"
/// where one line is at fault.
RawBodies read_table(std::string_view text, std::size_t most, const std::stop_token& stop);

/// Tipsy: a header {double time; int bodies, dimensions, gas, dark, stars} and 4 bytes of padding,
/// and then records of 12 (gas), 9 (dark) and 11 (star) floats that begin mass, x, y, z, vx, vy,
/// vz; all of one byte order. Dark bodies get a faint luminosity. Throws BodiesFileError that
/// begins "byte 1234: …".
RawBodies read_tipsy(std::string_view bytes, std::size_t most);

}  // namespace warpscope::experiments
