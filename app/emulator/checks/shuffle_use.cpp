#include "emulator/checks/shuffle_use.h"

#include <algorithm>
#include <vector>

#include "emulator/ptx/effects.h"
#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

bool may_be_discarded(const Kernel& kernel, std::uint32_t pc) {
    std::vector<std::uint32_t> values{kernel.code[pc].operands[0]};
    bool is_used = false;
    for (std::uint32_t at = pc + 1; at < kernel.code.size(); ++at) {
        const Instruction& i = kernel.code[at];
        if (is_prefix(i.role) || i.role == Role::join) continue;
        if (is_branch(i.role) || i.role == Role::exit) return !is_used;
        const unsigned destinations = destination_count(i);
        const auto holds_value = [&](std::uint32_t slot) {
            return slot && std::find(values.begin(), values.end(), slot) != values.end();
        };
        const bool reads =
            std::any_of(i.operands + destinations, std::end(i.operands), holds_value);
        if (!reads) {
            if (destinations && holds_value(i.operands[0])) {
                std::erase(values, i.operands[0]);
                if (values.empty()) return !is_used;
            }
            continue;
        }
        if (is_guard(kernel.code[at - 1].role) || i.operation == Operation::selp) return true;
        if (i.operation == Operation::mov) {
            values.push_back(i.operands[0]);
            continue;
        }
        if (is_used || destinations != 1 || i.operation == Operation::shfl) return false;
        is_used = true;
        values = {i.operands[0]};
    }
    return !is_used;
}

}  // namespace warpscope::emulator
