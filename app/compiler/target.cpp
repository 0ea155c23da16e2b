#include "compiler/target.h"

#include <algorithm>
#include <string_view>

namespace warpscope::compiler {

namespace {

/// Words of sources that are written for sm_80 and newer, and for sm_90 and newer. Headers that
/// also compile for sm_75 are named where they do there with stores what sm_80 does by copies that
/// a kernel must wait for: cmake/Kernels.cmake has these words for nvcc, too.
constexpr std::string_view of_80[] = {
    "cp.async",         "__pipeline_",   "cuda_pipeline", "cuda/pipeline", "cuda::pipeline",
    "cuda/barrier",     "cuda::barrier", "memcpy_async",  "mbarrier",      "mma.sync",
    "__reduce_add_sync", "redux.sync",   "bf16",          "tf32"};
constexpr std::string_view of_90[] = {"cluster_dims", "cluster_group", "this_cluster", "shared::cluster",
    "barrier.cluster", "cp.async.bulk",  "memcpy_async_tx",
                                      "expect_tx",   "arrive_tx",      "try_wait",
                                      "cuda/ptx",    "cuda::ptx",      "fence.proxy",
                                      "stmatrix",    "elect.sync",     "setmaxnreg",
                                      "griddepcontrol"};

template <std::size_t count>
bool has_word(std::string_view source, const std::string_view (&words)[count]) {
    return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) {
        return source.find(word) != source.npos;
    });
}

}  // namespace

unsigned target_of(std::string_view source) {
    return has_word(source, of_90) ? 90 : has_word(source, of_80) ? 80 : 75;
}

}  // namespace warpscope::compiler
