#include "emulator/checks/padding.h"

#include <algorithm>
#include <cstddef>

#include "emulator/lower/uniformity.h"
#include "emulator/ptx/effects.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {
namespace {

bool stores_vector(const Statement& s) {
    return s.opcode->kind == OpcodeKind::stores && s.operands.size() > 1 &&
           s.operands[1].kind == Operand::vector;
}

std::uint8_t first_bytes(std::uint64_t bits) {
    return std::uint8_t((1u << (bits + 7) / 8) - 1);
}

/// The bytes of its sources that a statement computes with: all, or those that it does not shift or
/// mask away. Of other statements it is not known, because they may copy, or choose bytes.
std::uint8_t computed_bytes(const Statement& s) {
    const Operation operation = s.opcode->operation;
    const std::vector<Type> types = s.types();
    if (types.empty() || s.guard >= 0) return 0;
    const unsigned bits = bits_of(types.back());
    const Operand& last = s.operands.back();
    const auto constant = std::uint64_t(last.value);
    switch (operation) {
        case Operation::shl:
            if (last.kind != Operand::integer || constant > bits) return 0;
            return first_bytes(bits - constant);
        case Operation::shr:
            if (last.kind != Operand::integer || constant > bits) return 0;
            return std::uint8_t(first_bytes(bits) & ~((1u << constant / 8) - 1));
        case Operation::cvt:
            return first_bytes(std::min(bits, bits_of(types.front())));
        default:
            break;
    }
    const bool is_integer = operation >= Operation::add && operation <= Operation::bfind_shiftamt;
    const bool is_real = operation >= Operation::fadd && operation <= Operation::ftanh;
    const bool compares = operation == Operation::set || operation == Operation::setp;
    return is_integer || is_real || compares ? first_bytes(bits) : std::uint8_t(0);
}

}  // namespace

void LoadedElements::begin_launch(const Kernel& kernel) {
    kernel_ = &kernel;
    uses_.clear();
    by_pc_.clear();
}

void LoadedElements::find_uses() {
    const KernelSyntax& syntax = kernel_->origin->syntax;
    uses_.assign(syntax.registers.size() + 1, {});
    for (const Statement& s : syntax.statements) {
        if (stores_vector(s)) {
            for (const std::int32_t r : sources_of(s)) uses_[std::size_t(r)].is_kept = true;
            continue;
        }
        const std::uint8_t computed = computed_bytes(s);
        for (const std::int32_t r : sources_of(s)) {
            uses_[std::size_t(r)].is_used = true;
            uses_[std::size_t(r)].is_kept |= s.opcode->operation != Operation::selp;
            uses_[std::size_t(r)].computed |= computed;
        }
    }
}

const LoadedElements::Elements& LoadedElements::of(std::uint32_t pc) {
    const auto [found, is_new] = by_pc_.try_emplace(pc);
    if (!is_new) return found->second;
    if (uses_.empty()) find_uses();
    return found->second = read(pc);
}

LoadedElements::Elements LoadedElements::read(std::uint32_t pc) const {
    const Statement* const load = statement_at(*kernel_, pc);
    if (!load || load->opcode->operation != Operation::ld) return {};
    const Operand& destination = load->operands[0];
    const bool is_vector = destination.kind == Operand::vector;
    const std::vector<Operand> elements =
        is_vector ? destination.elements : std::vector<Operand>{destination};
    Elements found{kernel_->lines[pc].bytes / std::uint32_t(elements.size()), {}};
    for (const Operand& element : elements)
        found.uses.push_back(element.kind == Operand::register_ ? uses_[std::size_t(element.index)]
                                                                : Use{.is_kept = true});
    return found;
}

namespace {

// In words. An array of fewer than 256 bytes of which one element is missing looks like one large
// structure.
constexpr std::size_t largest_structure = 64, largest_alone = 6;

bool repeats(const std::vector<bool>& written, std::size_t words) {
    return std::equal(written.begin() + std::ptrdiff_t(words), written.end(), written.begin());
}

/// Whether a structure of so many words has a member of `alignment` words, all of which is written.
bool has_member(const std::vector<bool>& written, std::size_t words, std::size_t alignment) {
    for (std::size_t at = 0; at + alignment <= words; at += alignment) {
        const auto begin = written.begin() + std::ptrdiff_t(at);
        if (std::all_of(begin, begin + std::ptrdiff_t(alignment), [](bool word) { return word; }))
            return true;
    }
    return false;
}

/// Whether the unwritten words of the first structure end where a member that needs them as padding
/// could begin.
bool is_padded(const std::vector<bool>& written, std::size_t words) {
    for (std::size_t at = 0; at < words;) {
        const std::size_t begin = at;
        while (at < words && !written[at]) ++at;
        if (at == begin) {
            ++at;
            continue;
        }
        const std::size_t gap = at - begin, alignment = gap == 1 ? 2 : 4;
        if (gap >= alignment || at % alignment || words % alignment ||
            !has_member(written, words, alignment))
            return false;
    }
    return true;
}

}  // namespace

bool may_be_padding(const std::vector<bool>& written) {
    const std::size_t size = written.size();
    const std::size_t most = size <= largest_alone ? size : std::min(largest_structure, size / 2);
    for (std::size_t words = 2; words <= most; words += 2)
        if (size % words == 0 && repeats(written, words)) return is_padded(written, words);
    return false;
}

}  // namespace warpscope::emulator
