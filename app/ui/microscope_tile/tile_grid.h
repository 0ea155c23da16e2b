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

/// The type of the numbers in a kernel's shared memory.
enum class WordType { real, natural };

/// `real` where any of the kernel's accesses to shared memory has the type .f32.
WordType word_type(const emulator::Kernel& kernel);

/// Word `index` of shared memory; the bytes beyond its end are 0.
std::uint32_t word_bits(std::span<const std::byte> shared, std::size_t index);
double word_value(WordType type, std::uint32_t bits);
/// Formats a word: "1.5", "4278190080".
std::string word_text(WordType type, std::uint32_t bits);

/// The usual number of words in a row of the grid. For a two-dimensional block it is words /
/// block.y if that is a whole number, so that padding appears as a column of its own. Otherwise it
/// is 32, so that each column is a bank.
unsigned usual_row(const emulator::Dim3& block, std::size_t words);

enum class TileColour { value, writer, epoch, state };

inline constexpr ImU32 in_flight_colour = IM_COL32(64, 170, 255, 255);

/// `free`: nobody has written the word. `in_flight`: a copy will write it. `landed`: a copy or a
/// thread has written it, and nobody has read it since. `read`: somebody has read it since it was
/// written. `overwritten`: it has taken part in a race.
enum class WordState { free, in_flight, landed, read, overwritten };
WordState state_of(const emulator::WordView& word);
ImU32 state_colour(WordState state);

/// The colour of each word. By value: between the smallest and the largest value written, without
/// the lowest and the highest two percent. By writer: the colour of the last writer's warp. By
/// epoch: the brighter, the fewer barriers were passed since the write. By state: state_colour().
/// Words that the block has not written are dark.
std::vector<ImU32> tile_colours(TileColour by, WordType type, std::span<const std::byte> shared,
                                std::span<const emulator::WordView> words, std::uint32_t epoch);

/// The block has read the word and never written it: the value is an earlier block's.
bool is_stale_read(const emulator::WordView& word);

/// Indices of the words that an access touches, in ascending order, each once.
std::vector<std::size_t> words_of(const emulator::AccessView& access);

}  // namespace warpscope::ui
