#include "experiments/framework/cold_runs.h"

namespace warpscope::experiments {

ColdRuns::Times ColdRuns::measure(std::string_view name,
                                  const std::function<void(std::size_t number)>& run) {
    for (int i = 0; i < 2; ++i) run(0);  // the first one may also load the kernel
    const std::size_t runs = launches_worth(device_, newest_median_ms(device_, name, 1));
    for (std::size_t i = 0; i < runs; ++i) {
        cache_.launch();
        run(i);
    }
    return {runs, newest_median_ms(device_, name, runs),
            newest_quantile_ms(device_, name, runs, 0.99)};
}

}  // namespace warpscope::experiments
