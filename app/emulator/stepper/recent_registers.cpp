#include "emulator/stepper/recent_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <string_view>
#include <unordered_map>

namespace warpscope::emulator {
namespace {

constexpr std::size_t most_steps_back = 200'000;

bool in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

/// Removes blanks and a guard from the beginning of a statement.
std::string_view from_opcode(std::string_view statement) {
    const auto skip_blanks = [&] {
        statement.remove_prefix(std::min(statement.find_first_not_of(" \t\n"), statement.size()));
    };
    skip_blanks();
    if (statement.starts_with('@')) {
        statement.remove_prefix(std::min(statement.find_first_of(" \t"), statement.size()));
        skip_blanks();
    }
    return statement;
}

bool writes_nothing(std::string_view opcode) {
    constexpr std::string_view none[] = {"st.",      "red.", "bra",   "bar.",     "barrier.",
                                         "ret",      "exit", "trap",  "fence",    "membar",
                                         "prefetch", "call", "brkpt", "nanosleep"};
    return std::any_of(std::begin(none), std::end(none), [&](std::string_view word) {
        return opcode.starts_with(word) && !opcode.starts_with("bar.red");
    });
}

}  // namespace

std::vector<std::string> written_names(std::string_view statement) {
    std::vector<std::string> names;
    const std::string_view from = from_opcode(statement);
    if (writes_nothing(from)) return names;
    // The first operand ends at a comma that stands in no braces.
    bool braces = false;
    for (std::size_t i = from.find_first_of(" \t"); i < from.size(); ++i) {
        if (from[i] == ',' && !braces) break;
        if (from[i] == '{' || from[i] == '}') braces = from[i] == '{';
        if (from[i] != '%') continue;
        std::size_t end = i + 1;
        while (end < from.size() && in_name(from[end])) ++end;
        names.emplace_back(from.substr(i, end - i));
        i = end - 1;
    }
    return names;
}

RegisterWrites::RegisterWrites(const Kernel& kernel) {
    std::unordered_map<std::string, std::uint32_t> index;
    for (std::uint32_t i = 0; i < kernel.registers.size(); ++i)
        index.emplace(kernel.registers[i].name, i);
    for (const InstructionInfo& info : kernel.lines) {
        auto& list = writes_.emplace_back();
        if (info.pseudo) continue;
        for (const std::string& name : written_names(info.text))
            if (const auto found = index.find(name); found != index.end())
                list.push_back(found->second);
    }
}

std::vector<RecentRegister> recent_registers(const Stepper& stepper, const RegisterWrites& writes,
                                             unsigned warp, unsigned lane, std::size_t most) {
    std::vector<RecentRegister> list;
    std::vector<bool> seen(stepper.kernel().registers.size());
    const auto history = stepper.history();
    const std::uint64_t here = stepper.position();
    const std::uint64_t oldest = here > most_steps_back ? here - most_steps_back : 0;
    for (std::uint64_t i = here; i-- > oldest && list.size() < most;) {
        const Step& step = history[i];
        if (step.warp != warp || !(step.mask >> lane & 1)) continue;
        for (const std::uint32_t index : writes.of(step.pc)) {
            if (seen[index]) continue;
            seen[index] = true;
            list.push_back({index, i});
        }
    }
    return list;
}

std::string register_text(const RegisterInfo& reg, std::uint64_t bits) {
    if (reg.bits == 1) return bits ? "true" : "false";
    if (reg.is_float && reg.bits == 64) return fmt::format("{:.9g}", std::bit_cast<double>(bits));
    if (reg.is_float && reg.bits == 32)
        return fmt::format("{:.6g}", double(std::bit_cast<float>(std::uint32_t(bits))));
    if (reg.bits == 64) {
        const auto whole = std::int64_t(bits);
        const bool small = whole >= INT32_MIN && whole <= std::int64_t(UINT32_MAX);
        return small ? fmt::format("{}", whole) : fmt::format("{:#x}", bits);
    }
    if (reg.bits == 16) return fmt::format("{}", std::int16_t(bits));
    return fmt::format("{}", std::int32_t(bits));
}

}  // namespace warpscope::emulator
