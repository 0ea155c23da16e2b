#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"

namespace warpscope::ui {

/// How a kernel's shared memory reads as numbers.
enum class WordType { real, natural };

/// What its shared loads and stores say: real where any is of .f32 values.
WordType word_type(const emulator::Kernel& kernel);

/// Word `index` of shared memory; the bytes beyond its end are 0.
std::uint32_t word_bits(std::span<const std::byte> shared, std::size_t index);
double word_value(WordType type, std::uint32_t bits);
/// "1.5", "4278190080".
std::string word_text(WordType type, std::uint32_t bits);

/// Words in a row of the grid: a two-dimensional block's share of them where that divides them
/// (padding then shows as a column of its own), else 32, so that each column is a bank.
unsigned usual_row(const emulator::Dim3& block, std::size_t words);

enum class TileColour { value, writer, epoch };

/// Each word's colour: its value between the least and the largest that were written (a few that
/// lie far out left aside); the warp of its last writer; or how many barriers ago it was written
/// (bright: none). Words that the block has not written are dark.
std::vector<ImU32> tile_colours(TileColour by, WordType type, std::span<const std::byte> shared,
                                std::span<const emulator::WordView> words, std::uint32_t epoch);

/// Words that an access touches, by index, each once.
std::vector<std::size_t> words_of(const emulator::AccessView& access);

}  // namespace warpscope::ui
