#include "emulator/check_set.h"

#include "emulator/checks/findings_by_repair.h"

namespace warpscope::emulator {

std::vector<std::string> CheckChoice::words() const {
    std::vector<std::string> words;
    for (const auto& [word, member] : check_words)
        if (this->*member) words.emplace_back(word);
    return words;
}

CheckSet::CheckSet(const CheckChoice& choice, Memory& memory) : heat_(memory) {
    if (choice.race) all_.add(race_);
    if (choice.race) all_.add(grid_races_);
    if (choice.barrier) all_.add(barrier_);
    if (choice.memory) all_.add(memory_);
    if (choice.counters) all_.add(counters_);
    if (choice.heat) all_.add(heat_);
    if (choice.heat && choice.race) race_.count_hazards_in(heat_);
    if (choice.heat && choice.race) grid_races_.count_hazards_in(heat_);
}

std::vector<Finding> CheckSet::findings() const {
    return by_repair(merged(
        {race_.findings(), grid_races_.findings(), barrier_.findings(), memory_.findings()}));
}

}  // namespace warpscope::emulator
