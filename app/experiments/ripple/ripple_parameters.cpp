#include "experiments/ripple/ripple_parameters.h"

#include <fmt/format.h>

namespace warpscope::experiments {
namespace {

std::optional<Remark> remark_on_stale_reads(const RippleParameters& chosen) {
    if (chosen.view != RippleParameters::View::stale || chosen.stamped()) return std::nullopt;
    return Remark{"Only the stamped tile detects stale reads.",
                  "Use the stamped tile",
                  {"layout", chosen.layout.words()[RippleParameters::stamped_layout].id}};
}

}  // namespace

RippleParameters::RippleParameters()
    : pattern(*this, "pattern", "Pattern", "What the threads compute.",
              {{"spheres", "green spheres"}, {"ripple", "moving rings"}}),
      sync(*this, "sync", "__syncthreads()",
           "The barrier between writing the tile and reading it: cluster_sync() where the tile is "
           "in the neighbour block.",
           true),
      layout(
          *this, "layout", "Tile",
          "How the tile lies in shared memory: as in the book CUDA by Example, or in another "
          "way. Rows of 18 and [ty][tx] have no bank conflicts. Two neighbouring blocks can be a "
          "cluster and read each other's tile.",
          {{"txty", "[tx][ty], the book's"},
           {"tytx", "[ty][tx], conflict-free"},
           {"padded17", "[tx][ty], rows of 17"},
           {"padded", "[tx][ty], rows of 18"},
           {"bytes", "[tx][ty], byte stores"},
           {"stamped", "[tx][ty], stamped words"},
           {"cluster", "in the neighbour block (sm_90)"}}),
      size(*this, "size", "Size", "Width and height of the picture, in pixels.", 1024, 16, 4096),
      speed(
          *this, "speed", "Speed",
          "How far the rings move in each frame; 44 make one cycle. Only the pattern rings moves.",
          1.0, 0.0, 20.0, "ticks per frame"),
      view(*this, "view", "View",
           "The picture; the picture with wrong pixels or stale reads in magenta (only the stamped "
           "tile detects stale reads); or one half without the barrier and one half with it.",
           {{"picture", "picture"},
            {"wrong", "wrong pixels"},
            {"stale", "stale reads"},
            {"split", "no barrier | barrier"}}),
      window(*this, "window", "Last launches",
             "Statistics over the last N launches: their median, minimum and maximum.", 60, 1,
             1000),
      delayed(*this, "delayed", "Delayed warps",
              "Warps of a block that are delayed. A block has 8. Only for the stamped tile.",
              {{"0", "warp 0"},
               {"0-3", "warps 0 to 3"},
               {"odd", "odd warps"},
               {"1-7", "all but warp 0"},
               {"all", "all warps"}}),
      delay(
          *this, "delay", "Delay length",
          "Length of the delay: in clocks on a GPU, in instructions of the block on the emulator. "
          "Only for the stamped tile.",
          0, 0, 20'000),
      delay_before(
          *this, "delay_before", "Delay",
          "A delay before the write makes reads stale. With a delay before the read, if the "
          "readers are late enough, the race has no visible effect.",
          {{"write", "before the write"}, {"read", "before the read"}}),
      timed_block(*this, "timed_block", "Timed block",
                  "The block whose warps the timeline shows: centre, or x + y * blocks in a row. "
                  "Only for the stamped tile.",
                  -1, -1, 256 * 256 - 1) {
    for (Parameter* watched :
         std::initializer_list<Parameter*>{&delayed, &delay, &delay_before, &timed_block})
        watched->only_when([this] { return stamped(); });
    sync.only_when([this] { return view != View::split; });
    speed.only_when([this] { return pattern.text() == "ripple"; });
    timed_block.name_lowest(files::sentence("centre"));
    view.remark_when([this] { return remark_on_stale_reads(*this); });
    group("Kernel", {&sync, &layout});
    group("Picture", {&pattern, &view, &size, &speed});
    group("Statistics", {&window}, "Statistics of the last launches.");
    group("Race laboratory", {&delayed, &delay_before, &delay, &timed_block});
}

double RippleParameters::work() const {
    constexpr double draw = 120, compare = 50, stamp = 55;  // for each pixel
    constexpr double drawn = 2;                             // pictures
    // While warps of a block of 256 pixels are delayed, no other warp needs to run.
    const double delayed = stamped() ? stamp + 32.0 / 256 * 0.7 * double(delay) : 0;
    return double(size * size) * (drawn * draw + compare + delayed);
}

std::string RippleParameters::file_of(std::size_t layout) {
    if (layout == book_layout) return "ripple";
    if (layout == cluster_layout) return "ripple_cluster";
    return layout == stamped_layout ? "ripple_stamped" : "ripple_layouts";
}

std::string RippleParameters::kernel_of(std::size_t layout_index, bool with_barrier) const {
    return fmt::format("ripple_{}{}", layout.words()[layout_index].id,
                       with_barrier ? "" : "_nosync");
}

}  // namespace warpscope::experiments
