#include "experiments/specimen.h"

#include "compute/sandbox.h"

namespace warpscope::experiments {

Copy::Copy(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
           std::size_t memory_bytes)
    : device([&] {
          auto made = compute::make_emulated_device("for the microscope", memory_bytes);
          made->set(settings);
          made->use(live.device().edits());
          if (!made->edits().empty()) made->limit(compute::usual_limits());
          return made;
      }()),
      experiment(entry.make(*device)) {
    experiment->resume(live.snapshot());
}

Specimen::Specimen(const Entry& entry, Experiment& live)
    : Specimen(entry, live, live.device().settings()) {}

Specimen::Specimen(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
                   std::size_t memory_bytes)
    : copy_(entry, live, settings, memory_bytes),
      launch_(copy_.device->freeze_last([&] { copy_.experiment->launch_kernel(); })) {}

}  // namespace warpscope::experiments
