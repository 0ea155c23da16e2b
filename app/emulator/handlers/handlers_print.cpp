// printf() and assert(), which the CUDA compiler turns into calls of vprintf and __assertfail.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "emulator/handlers/handlers.h"
#include "emulator/program/error.h"
#include "emulator/warp/print.h"

namespace warpscope::emulator {

namespace {

constexpr std::size_t longest_string = 4096;

std::string string_at(const Instruction* i, Warp& w, unsigned lane, std::uint64_t address) {
    std::string text;
    while (text.size() < longest_string) {
        const auto c =
            char(*w.checked_address(i, lane, Space::generic, address + text.size(), 1, 1));
        if (c == '\0') break;
        text += c;
    }
    return text;
}

}  // namespace

// Operands: the result, the format, the arguments (packed, each aligned to its size; null if there
// are none). The result is the number of arguments printed. When the block's log is full, nothing
// is read and the result is 0.
const Instruction* print(const Instruction* i, Warp& w) {
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        if (w.block->printed->is_full()) {  // long texts would exceed the launch's time limit
            w.block->printed->cut();
            if (i->operands[0]) w.set<std::uint32_t>(i->operands[0], lane, 0);
            continue;
        }
        std::uint64_t next = w.get<std::uint64_t>(i->operands[2], lane);
        PrintSource source;
        source.argument = [&](unsigned bytes) -> std::uint64_t {
            if (next == 0) return 0;
            next = (next + bytes - 1) / bytes * bytes;
            std::uint64_t value = 0;
            std::memcpy(&value, w.checked_address(i, lane, Space::generic, next, bytes, bytes),
                        bytes);
            next += bytes;
            return value;
        };
        source.string = [&](std::uint64_t address) { return string_at(i, w, lane, address); };
        const std::string format =
            string_at(i, w, lane, w.get<std::uint64_t>(i->operands[1], lane));
        const PrintedText printed = print_text(format, source);
        w.block->printed->add(printed.text);
        if (i->operands[0])
            w.set<std::uint32_t>(i->operands[0], lane, std::uint32_t(printed.arguments));
    }
    return w.cost_point(i, i + 1);
}

// Operands: message, file, line, function.
const Instruction* assert_fail(const Instruction* i, Warp& w) {
    const auto lane = unsigned(std::countr_zero(w.mask));
    const auto text = [&](unsigned operand) {
        return string_at(i, w, lane, w.get<std::uint64_t>(i->operands[operand], lane));
    };
    try {
        w.fail(i, lane,
               fmt::format("assertion '{}' failed in {}, {}:{}", text(0), text(3), text(1),
                           w.get<std::uint32_t>(i->operands[2], lane)));
    } catch (const Error& error) {
        throw AssertionError(error);
    }
}

}  // namespace warpscope::emulator
