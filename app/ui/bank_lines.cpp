#include "ui/bank_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "emulator/access_counters.h"

namespace warpscope::ui {
namespace {

using emulator::banks;

/// Lanes that the hardware serves at once: all, halves of 8-byte lanes, quarters of 16-byte lanes.
unsigned lanes_a_pass(std::uint32_t bytes) {
    return bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
}

bool one_address(const emulator::AccessView& access) {
    const auto first = access.addresses[std::size_t(std::countr_zero(access.mask))];
    for (unsigned lane = 0; lane < 32; ++lane)
        if ((access.mask >> lane & 1) && access.addresses[lane] != first) return false;
    return true;
}

std::string sentence(const BankPicture& picture, const emulator::AccessView& access) {
    const int lanes = std::popcount(access.mask);
    const auto passes = [](unsigned n) { return fmt::format("{} pass{}", n, n == 1 ? "" : "es"); };
    if (lanes == 0) return "No lane takes part.";
    if (picture.degree > 1)
        return fmt::format("{}-way conflict: {} where {} would do", picture.degree,
                           passes(picture.passes), picture.least);
    if (lanes > 1 && one_address(access))
        return fmt::format("All {} lanes share one address: {}", lanes, passes(picture.passes));
    return fmt::format("No conflict: {}", passes(picture.passes));
}

}  // namespace

BankPicture bank_picture(const emulator::AccessView& access) {
    const emulator::BankUse use = emulator::bank_use(access.addresses, access.mask, access.bytes);
    BankPicture picture;
    picture.passes = use.wavefronts;
    picture.least = use.least;
    const unsigned at_once = lanes_a_pass(access.bytes);
    for (unsigned first = 0; first < 32; first += at_once) {
        std::array<std::set<std::uint64_t>, banks> words;
        const std::size_t begin = picture.lines.size();
        for (unsigned lane = first; lane < first + at_once; ++lane) {
            if (!(access.mask >> lane & 1)) continue;
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
