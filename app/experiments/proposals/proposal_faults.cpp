#include <fmt/format.h>

#include "experiments/proposals/proposal.h"

// Faults of the host program that are known before a kernel runs.
namespace warpscope::experiments {

using compiler::Type;

namespace {

std::size_t pointers_in(const Type& type) {
    if (type.kind == Type::Kind::pointer) return 1;
    if (type.kind == Type::Kind::array)
        return type.target ? type.count * pointers_in(*type.target) : 0;
    std::size_t all = 0;
    for (const compiler::Member& member : type.members) all += pointers_in(*member.type);
    return all;
}

}  // namespace

/// Lists the pointers of a launch that lead to no memory of the device, where the kernel uses them.
/// Which of several pointers in a structure it uses is not known.
void Proposal::find_bad_pointers() {
    for (const HostBadPointer& bad : host_ ? host_->bad_pointers : std::vector<HostBadPointer>()) {
        compiler::MemoryUse use;
        const Type* type = nullptr;
        if (const auto variable = variables_.find(bad.variable); variable != variables_.end()) {
            const auto& uses = kernel_->traits.variables;
            const auto known = uses.find(variable->second->entry);
            if (known != uses.end()) use = known->second;
            type = variable->second->type.get();
        } else if (bad.variable.empty() && bad.argument < kernel_->parameters.size()) {
            use = use_of(bad.argument);
            type = kernel_->parameters[bad.argument].type.get();
        }
        if (!type || (!use.reads && !use.writes)) continue;
        if (bad.certain && pointers_in(*type) == 1)
            made_.faults.push_back({kernel_->name, bad.launch, fault_of(bad)});
        else
            guess(assumption_of(bad));
    }
}

std::string Proposal::fault_of(const HostBadPointer& bad) const {
    switch (bad.memory) {
        case HostBadPointer::Memory::of_host:
            return fmt::format(
                "The kernel {} uses {}, which leads to memory of the host ({}), and a GPU has no "
                "access to it: copy it to memory of cudaMalloc(), or allocate it with "
                "cudaMallocManaged().",
                kernel_->name, bad.name, bad.owner);
        case HostBadPointer::Memory::none:
            return fmt::format(
                "The kernel {} uses the pointer {}, which no statement gives a value before this "
                "launch.",
                kernel_->name, bad.name);
        case HostBadPointer::Memory::freed:
            break;
    }
    if (bad.line == 0)
        return fmt::format(
            "The kernel {} uses the memory of {}, which cudaFree() frees in a header, before this "
            "launch.",
            kernel_->name, bad.name);
    return fmt::format(
        "The kernel {} uses the memory of {}, which cudaFree() frees on line {}, before this "
        "launch.",
        kernel_->name, bad.name, bad.line);
}

/// What a guess assumes where it is not certain that a pointer is bad.
std::string Proposal::assumption_of(const HostBadPointer& bad) {
    switch (bad.memory) {
        case HostBadPointer::Memory::of_host:
            return fmt::format("that {} does not lead to memory of the host ({})", bad.name,
                               bad.owner);
        case HostBadPointer::Memory::none:
            return fmt::format("that {} has memory", bad.name);
        case HostBadPointer::Memory::freed:
            break;
    }
    const std::string where =
        bad.line > 0 ? fmt::format("on line {}", bad.line) : std::string("in a header");
    return fmt::format("that {} still has its memory, which cudaFree() frees {}", bad.name, where);
}

/// The elements from the beginning of an array on that the host program writes. nullopt: all, or
/// nobody knows.
std::optional<Expression> Proposal::written_elements(const HostPlace& place,
                                                     std::size_t element) const {
    const HostArray* const array = find_array(program_, place.array);
    if (!array || array->written.empty() || written_elsewhere_.contains(place.array))
        return std::nullopt;
    const auto size = values_.number(array->bytes), written = values_.number(array->written);
    if (size && written && real(*written) >= real(*size)) return std::nullopt;
    return values_.elements(array->written, element);
}

}  // namespace warpscope::experiments
