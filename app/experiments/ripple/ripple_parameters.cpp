#include "experiments/ripple/ripple_parameters.h"

#include <fmt/format.h>

namespace warpscope::experiments {

RippleParameters::RippleParameters()
    : pattern(*this, "pattern", "Pattern", "What the threads compute.",
              {{"spheres", "green spheres"}, {"ripple", "moving rings"}}),
      sync(*this, "sync", "__syncthreads()", "The barrier between writing the tile and reading it.",
           true),
      layout(*this, "layout", "Tile",
             "How the tile lies in shared memory. Rows of 18 and [ty][tx] have no bank conflicts.",
             {{"txty", "[tx][ty], as in CUDA by Example"},
              {"tytx", "[ty][tx], conflict-free"},
              {"padded17", "[tx][ty], rows of 17"},
              {"padded", "[tx][ty], rows of 18"},
              {"bytes", "[tx][ty], byte stores"},
              {"stamped", "[tx][ty], stamped words"}}),
      size(*this, "size", "Size", "Width and height of the picture, in pixels.", 1024, 16, 4096),
      speed(*this, "speed", "Speed", "How far the rings move in each frame, in ticks.", 1.0, 0.0,
            20.0, "ticks per frame"),
      view(*this, "view", "View",
           "The picture; the picture with its wrong pixels or its stale reads painted (only the "
           "stamped tile knows stale reads); or one half without the barrier and one with it.",
           {{"picture", "picture"},
            {"wrong", "wrong pixels"},
            {"stale", "stale reads"},
            {"split", "no barrier | barrier"}}),
      window(*this, "window", "Last launches",
             "The median, minimum and maximum are taken over this number of launches, the newest "
             "ones.",
             60, 1, 1000),
      delayed(*this, "delayed", "Delayed warps",
              "Which of the 8 warps of a block wait for the delay. Only the stamped tile has it.",
              {{"0", "warp 0"},
               {"0-3", "warps 0 to 3"},
               {"odd", "odd warps"},
               {"1-7", "all but warp 0"},
               {"all", "all warps"}}),
      delay(*this, "delay", "Delay",
            "How long those warps wait: in clocks on a GPU, in instructions of the block on the "
            "emulator. Only the stamped tile has it.",
            0, 0, 20'000),
      delay_before(*this, "delay_before", "Delay comes",
                   "A delay before the write makes reads stale. A delay before the read hides the "
                   "race.",
                   {{"write", "before the write"}, {"read", "before the read"}}),
      timed_block(*this, "timed_block", "Timed block",
                  "The block whose warps the timeline shows: x + y * blocks in a row. -1 is the "
                  "block at the centre. Only the stamped tile has it.",
                  -1, -1, 256 * 256 - 1) {
    for (Parameter* watched :
         std::initializer_list<Parameter*>{&delayed, &delay, &delay_before, &timed_block})
        watched->only_when([this] { return stamped(); });
    speed.only_when([this] { return pattern.text() == "ripple"; });
}

std::string RippleParameters::file_of(std::size_t layout) {
    if (layout == book_layout) return "ripple";
    return layout == stamped_layout ? "ripple_stamped" : "ripple_layouts";
}

std::string RippleParameters::kernel_of(std::size_t layout_index, bool with_barrier) const {
    return fmt::format("ripple_{}{}", layout.words()[layout_index].id,
                       with_barrier ? "" : "_nosync");
}

}  // namespace warpscope::experiments
