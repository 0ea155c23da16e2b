#include "ui/microscope_tile/tile_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ui/widgets/theme.h"

namespace warpscope::ui {
namespace {

using emulator::WordView;

ImU32 mixed(ImU32 from, ImU32 to, double t) {
    const auto channel = [&](int shift) {
        const double a = from >> shift & 255, b = to >> shift & 255;
        return ImU32(std::lround(a + (b - a) * t)) << shift;
    };
    return channel(IM_COL32_R_SHIFT) | channel(IM_COL32_G_SHIFT) | channel(IM_COL32_B_SHIFT) |
           IM_COL32_A_MASK;
}

constexpr ImU32 unwritten = IM_COL32(38, 42, 50, 255);
constexpr ImU32 landed_colour = IM_COL32(86, 190, 130, 255),
                read_colour = IM_COL32(120, 128, 145, 255);
constexpr ImU32 lowest = IM_COL32(32, 58, 92, 255), highest = IM_COL32(214, 236, 255, 255);

/// The range of values that the colours span: that of the values written, without the lowest and
/// the highest two percent, which may be far away from the others.
struct ColourRange {
    double low = 0, high = 0;
    double share(double value) const {
        if (!std::isfinite(value)) return 1;
        return high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0.5;
    }
};

ColourRange range_of(WordType type, std::span<const std::byte> shared,
                     std::span<const WordView> words) {
    std::vector<double> values;
    values.reserve(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i].writer == WordView::nobody) continue;
        const double value = word_value(type, word_bits(shared, i));
        if (std::isfinite(value)) values.push_back(value);
    }
    if (values.empty()) return {};
    const auto rank = [&](std::size_t index) {
        std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(index), values.end());
        return values[index];
    };
    const std::size_t outer = values.size() / 50;
    return {rank(outer), rank(values.size() - 1 - outer)};
}

/// 1 for a word written since the newest barrier, less for each barrier passed since the write, but
/// always more than 0.
double freshness(std::uint32_t barriers_ago) {
    return 0.25 + 0.75 * std::pow(0.6, double(barriers_ago));
}

}  // namespace

WordType word_type(const emulator::Kernel& kernel) {
    for (const emulator::InstructionInfo& info : kernel.lines)
        if (info.access != emulator::MemoryAccess::none && info.space == emulator::Space::shared &&
            info.text.find(".f32") != std::string::npos)
            return WordType::real;
    return WordType::natural;
}

std::uint32_t word_bits(std::span<const std::byte> shared, std::size_t index) {
    std::uint32_t bits = 0;
    if (index * 4 < shared.size())
        std::memcpy(&bits, shared.data() + index * 4,
                    std::min<std::size_t>(4, shared.size() - index * 4));
    return bits;
}

double word_value(WordType type, std::uint32_t bits) {
    return type == WordType::real ? double(std::bit_cast<float>(bits)) : double(bits);
}

std::string word_text(WordType type, std::uint32_t bits) {
    return type == WordType::real ? fmt::format("{:.6g}", std::bit_cast<float>(bits))
                                  : fmt::format("{}", bits);
}

unsigned usual_row(const emulator::Dim3& block, std::size_t words) {
    constexpr std::size_t widest = 64;
    const std::size_t rows = block.y;
    if (rows > 1 && words % rows == 0 && words / rows >= 2 && words / rows <= widest)
        return unsigned(words / rows);
    return 32;
}

std::vector<ImU32> tile_colours(TileColour by, WordType type, std::span<const std::byte> shared,
                                std::span<const WordView> words, std::uint32_t epoch) {
    std::vector<ImU32> colours(words.size(), unwritten);
    const ColourRange range =
        by == TileColour::value ? range_of(type, shared, words) : ColourRange();
    for (std::size_t i = 0; i < words.size(); ++i) {
        const WordView& word = words[i];
        if (by == TileColour::state) colours[i] = state_colour(state_of(word));
        if (by == TileColour::state || word.writer == WordView::nobody) continue;
        if (by == TileColour::value)
            colours[i] =
                mixed(lowest, highest, range.share(word_value(type, word_bits(shared, i))));
        else if (by == TileColour::writer)
            colours[i] = warp_colour(unsigned(word.writer) / 32);
        else
            colours[i] = mixed(unwritten, colour::accent, freshness(epoch - word.write_epoch));
    }
    return colours;
}

WordState state_of(const WordView& word) {
    if (word.hazard) return WordState::overwritten;
    if (word.copy == WordView::Copy::in_flight) return WordState::in_flight;
    if (word.writer == WordView::nobody) return WordState::free;
    return word.is_read ? WordState::read : WordState::landed;
}

ImU32 state_colour(WordState state) {
    switch (state) {
        case WordState::free:
            return unwritten;
        case WordState::in_flight:
            return in_flight_colour;
        case WordState::landed:
            return landed_colour;
        case WordState::read:
            return read_colour;
        case WordState::overwritten:
            return colour::bad;
    }
    return unwritten;
}

bool is_stale_read(const WordView& word) {
    return word.writer == WordView::nobody && word.reader != WordView::nobody;
}

std::vector<std::size_t> words_of(const emulator::AccessView& access) {
    std::vector<std::size_t> words;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(access.mask >> lane & 1)) continue;
        const std::uint64_t begin = access.addresses[lane];
        for (std::uint64_t w = begin / 4; w <= (begin + access.bytes - 1) / 4; ++w)
            words.push_back(std::size_t(w));
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
}

}  // namespace warpscope::ui
