#include <cmath>

#include "experiments/bodies/bodies_file.h"
#include "fuzz.h"

// A file of bodies, tipsy or CSV. What loads is finite and has a total mass of 1 or 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace warpscope;
    static const tests::FuzzFolder folder;
    const auto file = folder.write("bodies", tests::text_of(data, size));
    const double estimate = experiments::estimated_bodies(file);
    tests::require(std::isfinite(estimate), "the estimated number of bodies is finite");
    try {
        const auto loaded = experiments::load_bodies(file, 1000);
        tests::require(!loaded.bodies.empty() && loaded.bodies.size() <= 1000,
                       "a file has between one body and the most");
        double mass = 0;
        for (const experiments::Body& body : loaded.bodies) {
            mass += double(body.mass);
            for (int k = 0; k < 3; ++k)
                tests::require(std::isfinite(body.position[k]) && std::isfinite(body.velocity[k]),
                               "positions and velocities are finite");
        }
        tests::require(std::abs(mass - 1) < 1e-3 || mass == 0, "the total mass is 1 or 0");
    } catch (const experiments::BodiesFileError&) {
        return 0;
    }
    return 0;
}
