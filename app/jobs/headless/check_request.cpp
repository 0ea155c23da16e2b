#include "jobs/headless/check_request.h"

#include "jobs/output/parse_word_list.h"

namespace warpscope::jobs {

std::vector<std::string> Checks::words() const {
    std::vector<std::string> found;
    if (race) found.emplace_back(compute::name(Check::race));
    if (barrier) found.emplace_back(compute::name(Check::barrier));
    if (memory) found.emplace_back(compute::name(Check::memory));
    if (leaks) found.emplace_back(compute::name(Check::leaks));
    if (needed) found.emplace_back(compute::name(Check::needed));
    return found;
}

Checks parse_checks(std::string_view text) {
    Checks checks;
    for (const Check check : parse_word_list<Check>("--check", text)) {
        if (check == Check::race) checks.race = true;
        if (check == Check::barrier) checks.barrier = true;
        if (check == Check::memory || check == Check::leaks) checks.memory = true;
        if (check == Check::leaks) checks.leaks = true;
        if (check == Check::needed) checks.needed = true;
    }
    return checks;
}

Checking::Checking(compute::EmulatedDevice& device, const Checks& checks, bool counters, bool heat)
    : device_(device),
      set_({.race = checks.race,
            .barrier = checks.barrier,
            .memory = checks.memory,
            .counters = counters,
            .heat = heat},
           device.machine().memory()) {
    device_.observe(&set_.observer());
}

}  // namespace warpscope::jobs
