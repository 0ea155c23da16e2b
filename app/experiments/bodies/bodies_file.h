#pragma once

#include <filesystem>
#include <stdexcept>
#include <stop_token>

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
};

/// Reads a tipsy binary (either byte order, with or without the 4 bytes of padding behind the
/// header; https://github.com/N-BodyShop/tipsy) or CSV lines `x,y,z,vx,vy,vz,mass` (a heading,
/// empty lines and lines that begin with # are skipped). The content decides, not the file name.
/// The file's numbers are taken as units with G = 1, and then scaled, which changes no orbit: total
/// mass 1, centre of mass at rest in the origin, 90 % of the bodies within a radius of 1. Throws
/// BodiesFileError: unreadable, truncated or too long, NaN or infinity, a negative mass, no bodies,
/// more than `most`; and compute::Cancelled soon after a stop request.
LoadedBodies load_bodies(const std::filesystem::path& path, std::size_t most,
                         const std::stop_token& stop = {});

/// About how many bodies a file holds, judged by its size and first bytes. 0: it can't be read.
double estimated_bodies(const std::filesystem::path& path);

}  // namespace warpscope::experiments
