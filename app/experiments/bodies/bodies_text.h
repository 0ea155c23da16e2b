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

}  // namespace warpscope::experiments
