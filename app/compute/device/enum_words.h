#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "compute/device/device.h"

namespace warpscope::compute {

/// One value of an enum as text.
template <class Enum>
struct Word {
    Enum value;
    std::string_view name;   ///< in options, JSON, metadata and settings: "run-to-barrier"
    std::string_view label;  ///< on the screen: "run to barrier"
};

/// The words of every value that a user can choose, in the order in which lists show them. An enum
/// without a specialization here has no words.
template <class Enum>
inline constexpr std::array<Word<Enum>, 0> words_of{};

template <>
inline constexpr std::array words_of<bool>{
    Word<bool>{true, "on", "on"},
    Word<bool>{false, "off", "off"},
};

template <>
inline constexpr std::array words_of<DeviceKind>{
    Word<DeviceKind>{DeviceKind::cuda, "cuda", "GPU"},
    Word<DeviceKind>{DeviceKind::emulator, "emulator", "emulator"},
};

template <>
inline constexpr std::array words_of<Math>{
    Word<Math>{Math::precise, "precise", "precise"},
    Word<Math>{Math::fast, "fast", "fast"},
};

template <>
inline constexpr std::array words_of<Schedule>{
    Word<Schedule>{Schedule::random, "random", "random"},
    Word<Schedule>{Schedule::run_to_barrier, "run-to-barrier", "run to barrier"},
    Word<Schedule>{Schedule::reverse, "reverse", "reverse"},
};

template <>
inline constexpr std::array words_of<BarrierPolicy>{
    Word<BarrierPolicy>{BarrierPolicy::volta, "volta", "Volta and later"},
    Word<BarrierPolicy>{BarrierPolicy::before_volta, "before-volta", "Before Volta"},
    Word<BarrierPolicy>{BarrierPolicy::strict, "strict", "Strict PTX ISA"},
};

template <>
inline constexpr std::array words_of<Landing>{
    Word<Landing>{Landing::random, "random", "at random"},
    Word<Landing>{Landing::at_once, "at-once", "at once"},
    Word<Landing>{Landing::late, "late", "late"},
};

template <>
inline constexpr std::array words_of<Execution>{
    Word<Execution>{Execution::automatic, "auto", "automatic"},
    Word<Execution>{Execution::interpreted, "interpreted", "interpreted"},
    Word<Execution>{Execution::compiled, "compiled", "compiled"},
};

/// Returns Word::name of a value. Throws std::invalid_argument for a value without words.
template <class Enum>
std::string_view name(Enum value) {
    static_assert(!words_of<Enum>.empty(), "the enum has no table of words");
    for (const Word<Enum>& word : words_of<Enum>)
        if (word.value == value) return word.name;
    throw std::invalid_argument("the value has no word");
}

/// The names of all values: "volta, before-volta, strict".
template <class Enum>
std::string names(std::string_view separator = ", ") {
    static_assert(!words_of<Enum>.empty(), "the enum has no table of words");
    std::string list;
    for (const Word<Enum>& word : words_of<Enum>) {
        if (!list.empty()) list += separator;
        list += word.name;
    }
    return list;
}

/// Returns the value that has this Word::name. Throws std::invalid_argument that lists the legal
/// names for any other text.
template <class Enum>
Enum parse(std::string_view text) {
    for (const Word<Enum>& word : words_of<Enum>)
        if (word.name == text) return word.value;
    throw std::invalid_argument(std::string(text) + ": write one of " + names<Enum>());
}

}  // namespace warpscope::compute
