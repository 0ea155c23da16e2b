#include "experiments/nbody/nbody_parameters.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/bodies/bodies_file.h"

namespace warpscope::experiments {
namespace {

/// The other kernels choose their block size themselves.
bool has_block_size(NBodyKernel kernel) {
    return kernel != NBodyKernel::several && !divides_sums(kernel);
}

bool has_tile_switch(NBodyKernel kernel) {
    return kernel == NBodyKernel::tiled || kernel == NBodyKernel::float4;
}

std::optional<Remark> remark_without(const Toggle& barrier, const char* sentence) {
    if (barrier || !barrier.matters()) return std::nullopt;
    return Remark{sentence, "Put it back", {barrier.id(), "on"}};
}

void only_show(std::initializer_list<Parameter*> views) {
    for (Parameter* view : views) view->only_shows();
}

}  // namespace

NBodyParameters::NBodyParameters()
    : tile(*this, "tile", "Shared tile",
           "The threads of a block load a tile of bodies together and read it from shared memory. "
           "Off: each warp reads every body from global memory. For the kernels tiled and float4.",
           true),
      load_barrier(*this, "load_barrier", "Load barrier",
                   "The __syncthreads() between loading a tile and reading it. For the kernel "
                   "tiled.",
                   true),
      reuse_barrier(*this, "reuse_barrier", "Reuse barrier",
                    "The __syncthreads() between reading a tile and loading the next one over it. "
                    "For the kernel tiled.",
                    true),
      copy_wait(*this, "copy_wait", "Copy wait",
                "Threads wait for the copies of a tile before they read it. Off: async does not "
                "wait, and bulk waits after the read. For the kernels async and bulk.",
                true),
      kernel(*this, "kernel", "Kernel",
             "Each kernel has one change from the one before: bodies read from global memory as "
             "float3; as float4; in tiles through shared memory; 1 / sqrt in one instruction; 16 "
             "bodies in each pass of the loop; 4 bodies for each thread; the bodies that attract "
             "are divided among enough blocks to fill the GPU; the next tile is copied while one "
             "is used "
             "(cp.async, from sm_80 on); a producer warp copies whole tiles (cp.async.bulk, from "
             "sm_90 "
             "on).",
             {{"float3", "float3, global"},
              {"float4", "float4, global"},
              {"tiled", "float4, shared tiles"},
              {"rsqrt", "tiles, 1/sqrt in one instruction"},
              {"unrolled", "tiles, unrolled"},
              {"several", "tiles, 4 bodies for each thread"},
              {"fast", "fast: work split over more blocks"},
              {"async", "fast, two tiles by cp.async (sm_80)"},
              {"bulk", "fast, bulk copies (sm_90)"}},
             std::size_t(NBodyKernel::tiled)),
      bodies(*this, "bodies", "Bodies",
             "Number of bodies. With the start \"file\", the file decides.", 4096, 1, most_bodies),
      block(*this, "block", "Block size",
            "Threads of a block, and bodies of a tile. The kernels from several on always "
            "have 256.",
            256, 32, 1024),
      start(*this, "start", "Start", "Where the bodies are at frame 0.",
            {{"plummer", "Plummer sphere"},
             {"disk", "rotating disk"},
             {"collision", "two colliding galaxies"},
             {"cold", "cold sphere, at rest"},
             {"file", "from a file"}}),
      file(
          *this, "file", "File",
          "For the start \"file\": a tipsy binary, or a table with the columns x, y, z, vx, vy, vz "
          "and mass."),
      seed(*this, "seed", "Start seed", "Seed of the random numbers that a generated start uses.",
           1, 0, 1'000'000'000),
      dt(*this, "dt", "Time step",
         "Time of one frame, in units in which the gravitational constant, the total mass and the "
         "radius are 1.",
         0.005, 1e-6, 1),
      softening(*this, "softening", "Softening",
                "Below this distance gravity weakens, so that close bodies do not throw each other "
                "out.",
                0.02, 1e-4, 10),
      check(
          *this, "check", "Check",
          "The bodies whose error and energy are computed. Of more bodies, evenly spaced ones are "
          "taken.",
          {{"auto", "all up to 65536"}, {"all", "always all"}}),
      yaw(*this, "yaw", "Yaw", "Direction from which you look at the bodies.", 30, -360, 360, "°"),
      pitch(*this, "pitch", "Pitch", "Height from which you look down at the bodies.", 35, -90, 90,
            "°"),
      distance(
          *this, "distance", "Distance",
          "Distance from which you look. At 1 the picture holds 90 % of the bodies of frame 0.", 1,
          0.05, 20),
      exposure(*this, "exposure", "Exposure", "Brightness of the picture.", 1, 0.01, 100) {
    tile.stands_for([this] { return kernel >= NBodyKernel::tiled; },
                    [this](bool on) {
                        if (has_tile_switch(kernel)) kernel.parse(on ? "tiled" : "float4");
                    });
    tile.explain_with([this] { return tile_note(); });
    tile.only_when([this] { return has_tile_switch(kernel); });
    for (Toggle* barrier : {&load_barrier, &reuse_barrier})
        barrier->only_when([this] { return kernel == NBodyKernel::tiled; });
    load_barrier.remark_when([this] {
        return remark_without(load_barrier,
                              "Without the barrier after loading, warps read bodies that other "
                              "warps have not loaded yet: the forces may be wrong.");
    });
    reuse_barrier.remark_when([this] {
        return remark_without(reuse_barrier,
                              "Without the barrier before reuse, warps load the next bodies over "
                              "those that other warps still read: the forces may be wrong.");
    });
    copy_wait.only_when([this] { return has_copies(kernel); });
    copy_wait.remark_when([this] {
        return remark_without(copy_wait,
                              "Without the wait, threads read bodies that the copies have not "
                              "brought yet: the forces may be wrong.");
    });
    block.only_when([this] { return has_block_size(kernel); });
    file.only_when([this] { return start == Start::file; });
    file.comes_with({"start", "file"});
    for (Parameter* generated : std::initializer_list<Parameter*>{&bodies, &seed})
        generated->only_when([this] { return start != Start::file; });
    only_show({&check, &yaw, &pitch, &distance, &exposure});
    group("Kernel", {&tile, &load_barrier, &reuse_barrier, &copy_wait, &kernel, &block});
    group("Bodies", {&start, &file, &bodies, &seed});
    group("Simulation", {&dt, &softening, &check});
    group("Camera", {&yaw, &pitch, &distance, &exposure},
          "Drag the picture to turn the camera; the wheel moves it.");
}

NBodyKernel NBodyParameters::launched() const {
    if (has_copies(kernel) && !copy_wait)
        return kernel == NBodyKernel::async ? NBodyKernel::async_no_wait
                                            : NBodyKernel::bulk_no_wait;
    if (kernel != NBodyKernel::tiled || (load_barrier && reuse_barrier)) return kernel;
    if (load_barrier) return NBodyKernel::no_reuse_barrier;
    return reuse_barrier ? NBodyKernel::no_load_barrier : NBodyKernel::no_barriers;
}

// A body has 16 bytes, half a sector. A block reads each body once into its tile. Without it, each
// warp does: a load of one address by all lanes takes a sector.
double NBodyParameters::sectors_per_interaction(bool with_tile, double moved) const {
    constexpr double warp = 32, body = 0.5;
    if (!with_tile) return std::ceil(moved / warp) / moved;
    return std::ceil(moved / double(block)) * body / moved;
}

files::Sentence NBodyParameters::tile_note() const {
    const auto of = [&](bool with_tile) {
        return fmt::format("1/{:.0f}", 1 / sectors_per_interaction(with_tile, double(block)));
    };
    if (tile)
        return files::sentence("A block reads each body once: {} of a sector for each interaction.",
                               of(true))
            .add(files::sentence("Without the tile it is {}.", of(false)));
    return files::sentence("Each warp reads each body: {} of a sector for each interaction.",
                           of(false))
        .add(files::sentence("With the tile it is {}.", of(true)));
}

/// "nbody_tiled" runs a kernel without these conditions.
bool NBodyParameters::has_barrier_if(std::string_view name) const {
    if (name == "load_barrier") return launched() == NBodyKernel::no_reuse_barrier;
    if (name == "reuse_barrier") return launched() == NBodyKernel::no_load_barrier;
    return true;
}

double NBodyParameters::work() const {
    constexpr double pull[] = {20.5, 17.3, 17.6, 15.6, 14.5,
                               13.9, 13.9, 14,   14};  // for each interaction
    static_assert(std::size(pull) == std::size(all_nbody_kernels));
    constexpr double picture = 7e7;  // of 1280x720 pixels
    const double n = start == Start::file ? estimated_bodies(file.value()) : double(bodies);
    return n > 0 ? n * n * pull[kernel.index()] + picture : 0;
}

}  // namespace warpscope::experiments
