#include "ui/microscope/bank_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "compute/device/sentences.h"
#include "emulator/counters/access_counters.h"
#include "ui/language/language.h"

namespace warpscope::ui {
namespace {

using emulator::banks;

bool one_address(const emulator::AccessView& access) {
    const auto first = access.addresses[std::size_t(std::countr_zero(access.mask))];
    for (unsigned lane = 0; lane < 32; ++lane)
        if ((access.mask >> lane & 1) && access.addresses[lane] != first) return false;
    return true;
}

std::string sentence(const BankPicture& picture, const emulator::AccessView& access) {
    const int lanes = std::popcount(access.mask);
    const auto passes = [](unsigned n) { return counted(n, "pass"); };
    if (lanes == 0) return tr("No lane takes part.");
    if (picture.degree > 1)
        return tr("{}-way conflict: {} where {} would be enough", picture.degree,
                  passes(picture.passes), picture.least);
    if (lanes > 1 && one_address(access))
        return tr("All {} lanes share one address: {}", lanes, passes(picture.passes));
    return tr("No conflict: {}", passes(picture.passes));
}

}  // namespace

BankPicture bank_picture(const emulator::AccessView& access) {
    const emulator::BankUse use = emulator::bank_use(access.addresses, access.mask, access.bytes);
    BankPicture picture;
    picture.passes = use.wavefronts;
    picture.least = use.least;
    for (unsigned group = 0; group < use.least; ++group) {
        std::array<std::set<std::uint64_t>, banks> words;
        const std::size_t begin = picture.lines.size();
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (!(access.mask >> lane & 1) || use.group[lane] != group) continue;
            const std::uint64_t low = access.addresses[lane] / 4;
            const std::uint64_t high = (access.addresses[lane] + access.bytes - 1) / 4;
            for (std::uint64_t word = low; word <= high; ++word) {
                const auto bank = unsigned(word % banks);
                words[bank].insert(word);
                picture.lanes[bank] |= 1U << lane;
                picture.lines.push_back({lane, bank, false});
            }
        }
        for (std::size_t i = begin; i < picture.lines.size(); ++i)
            picture.lines[i].conflict = words[picture.lines[i].bank].size() > 1;
        for (unsigned b = 0; b < banks; ++b)
            picture.words[b] = std::max(picture.words[b], unsigned(words[b].size()));
    }
    picture.degree = *std::max_element(picture.words.begin(), picture.words.end());
    picture.sentence = sentence(picture, access);
    return picture;
}

}  // namespace warpscope::ui
