#include "experiments/pipeline/pipeline_parameters.h"

#include <string>

namespace warpscope::experiments {

PipelineParameters::PipelineParameters()
    : copies(*this, "copies", "Copies",
             "How tiles of the picture come into shared memory: each thread loads and stores; each "
             "thread copies 16 bytes at a time asynchronously (cp.async, from sm_80 on); or one "
             "thread of a producer warp copies whole tiles (cp.async.bulk, from sm_90 on).",
             {{"synchronous", "load and store"},
              {"async", "cp.async (sm_80)"},
              {"bulk", "bulk copies (sm_90)"}},
             1),
      stages(*this, "stages", "Stages", "Tiles of the ring, which are filled in advance.", 4, 1, 8),
      wait(*this, "wait", "Wait before the read",
           "Threads wait for the copy of a tile before they read it. Without this they wait after "
           "the read: cp.async.wait_group, or the phase of the full barrier, comes too late.",
           true),
      commit(*this, "commit", "Commit",
             "Copies are put into a group, which a thread can wait for. Without this the wait ends "
             "at once.",
             true),
      keep(*this, "keep", "Empty barrier",
           "A tile is filled again only when all threads have read it. Without this there is no "
           "__syncthreads() before the next copy, or the consumers arrive at the empty barrier "
           "before they read.",
           true),
      fence(*this, "fence", "Proxy fence",
            "fence.proxy.async stands between the stores of threads and the bulk copy of what they "
            "have stored. Only for bulk copies.",
            true),
      view(*this, "view", "View",
           "The filtered picture; the picture with wrong pixels in magenta; or its source.",
           {{"picture", "picture"}, {"wrong", "wrong pixels"}, {"source", "source"}}),
      size(*this, "size", "Size", "Width and height of the picture, in pixels.",
           {{"256", "256"},
            {"512", "512"},
            {"1024", "1024"},
            {"2048", "2048"},
            {"4096", "4096"},
            {"8192", "8192"}},
           2),
      speed(*this, "speed", "Speed", "How fast the discs of the picture grow and shrink.", 1.0, 0.0,
            20.0, "ticks per frame") {
    const auto in_ring = [this] { return copies != Copies::synchronous; };
    for (Parameter* p : std::initializer_list<Parameter*>{&stages, &wait, &commit, &keep})
        p->only_when(in_ring);
    fence.only_when([this] { return copies == Copies::bulk; });
    view.only_shows();
    group("Kernel", {&copies, &stages, &wait, &commit, &keep, &fence});
    group("Picture", {&view, &size, &speed});
}

std::string PipelineParameters::file_of(Copies copies) {
    return copies == Copies::bulk ? "pipeline_bulk" : "pipeline";
}

double PipelineParameters::work() const {
    constexpr double source = 60, filter = 30, compare = 50;  // for each pixel
    return double(side() * side()) * (source + 2 * filter + compare);
}

std::string PipelineParameters::kernel_of(Copies copies) {
    return copies == Copies::synchronous ? "pipeline_synchronous"
           : copies == Copies::async     ? "pipeline_async"
                                         : "pipeline_bulk";
}

int PipelineParameters::steps() const {
    const auto step = [](const Toggle& toggle, int bit) {
        return toggle || !toggle.matters() ? bit : 0;
    };
    return step(wait, wait_before_read) | step(commit, commit_copies) | step(keep, keep_tile) |
           step(fence, fence_proxy);
}

std::int64_t PipelineParameters::side() const {
    return std::stoll(size.words()[size.index()].id);
}

}  // namespace warpscope::experiments
