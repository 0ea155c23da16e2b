#include "emulator/ptx/opcode_traits.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace warpscope::emulator {

namespace {

template <size_t N>
bool one_of(std::string_view word, const std::string_view (&list)[N]) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

void collect(const Operand& operand, std::vector<std::int32_t>& into) {
    if (operand.kind == Operand::register_) into.push_back(operand.index);
    for (const Operand& element : operand.elements) collect(element, into);
}

Effect effect_of_special(std::string_view name) {
    if (name.starts_with("%tid") || name == "%laneid" || name.starts_with("%lanemask"))
        return Effect::per_lane;
    if (name.starts_with("%clock") || name == "%globaltimer") return Effect::load;
    return Effect::pure;
}

}  // namespace

unsigned destination_count(const Statement& s) {
    static constexpr std::string_view without[] = {
        "st",        "red",      "bra",       "brx",     "ret",        "exit",
        "trap",      "brkpt",    "membar",    "fence",   "call",       "stmatrix",
        "nanosleep", "prefetch", "prefetchu", "pmevent", assert_opcode};
    if (one_of(s.opcode, without)) return 0;
    if (s.opcode == "bar" || s.opcode == "barrier") return s.has("red") ? 1 : 0;
    return 1;
}

std::vector<std::int32_t> destinations_of(const Statement& s) {
    std::vector<std::int32_t> found;
    const unsigned count = destination_count(s);
    for (unsigned i = 0; i < count && i < s.operands.size(); ++i) collect(s.operands[i], found);
    return found;
}

std::vector<std::int32_t> sources_of(const Statement& s) {
    std::vector<std::int32_t> found;
    for (size_t i = destination_count(s); i < s.operands.size(); ++i) collect(s.operands[i], found);
    if (s.guard >= 0) {
        found.push_back(s.guard);
        for (std::int32_t r : destinations_of(s)) found.push_back(r);
    }
    return found;
}

bool is_exit(const Statement& s) {
    return s.opcode == "ret" || s.opcode == "exit";
}

bool ends_block(const Statement& s) {
    return is_exit(s) || s.opcode == "bra" || s.opcode == "brx" || s.opcode == "trap";
}

bool is_barrier(const Statement& s) {
    return (s.opcode == "bar" || s.opcode == "barrier") && !s.has("warp");
}

bool uses_carry(const Statement& s) {
    return s.has("cc") || s.opcode == "addc" || s.opcode == "subc" || s.opcode == "madc";
}

bool waits_for_threads(const Statement& s) {
    static constexpr std::string_view exchanges[] = {"bar",  "barrier", "shfl",
                                                     "vote", "match",   "redux"};
    return one_of(s.opcode, exchanges);
}

bool reads_what_others_write(const Statement& s) {
    if (s.opcode == "atom") return true;
    return s.opcode == "ld" && (s.has("volatile") || s.has("relaxed") || s.has("acquire"));
}

Effect effect_of(const Statement& s) {
    static constexpr std::string_view crossing[] = {"atom",       "shfl",  "vote",      "match",
                                                    "activemask", "redux", print_opcode};
    if (destination_count(s) == 0) return Effect::none;
    if (one_of(s.opcode, crossing) || is_barrier(s)) return Effect::per_lane;
    if (uses_carry(s)) return Effect::per_lane;  // each lane has its own
    if (s.opcode == "ld" || s.opcode == "ldu") {
        if (s.has("param") || s.has("const") || s.has("nc")) return Effect::pure;
        // A generic address may be one of local memory: the same for all lanes, the bytes not.
        return s.has("global") || s.has("shared") || s.has("shared::cta") ? Effect::load
                                                                          : Effect::per_lane;
    }
    Effect effect = Effect::pure;
    for (const Operand& o : s.operands)
        if (o.kind == Operand::special && effect == Effect::pure)
            effect = effect_of_special(o.name);
    return effect;
}

}  // namespace warpscope::emulator
