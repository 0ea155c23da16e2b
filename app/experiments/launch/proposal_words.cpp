#include "experiments/launch/proposal_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/launch/fill.h"
#include "experiments/launch/launch_parameters.h"

namespace warpscope::experiments {
namespace {

std::string value_words(const Expression& expression, const Names& names) {
    try {
        return to_string(expression.value(names));
    } catch (const LaunchError&) {
        return expression.text();
    }
}

/// "16", "(8, 8)"
std::string sizes_words(const std::vector<Expression>& sizes, const Names& names) {
    std::vector<std::string> all;
    for (const Expression& size : sizes) all.push_back(value_words(size, names));
    return all.size() == 1 ? all[0] : fmt::format("({})", fmt::join(all, ", "));
}

/// "x + 2: 100 float"
std::string buffer_words(const LaunchPlan& plan, std::size_t index, const Expression& shifted_by,
                         const Names& names) {
    const BufferSpec& buffer = plan.file.buffers[index];
    std::vector<std::string> shape;
    for (const Expression& size : buffer.shape) shape.push_back(value_words(size, names));
    if (plan.rows[index] > 0) shape.push_back(std::to_string(plan.rows[index]));
    const std::string shift = value_words(shifted_by, names);
    const std::string sign = shift.starts_with('-') ? " - " + shift.substr(1) : " + " + shift;
    return fmt::format("{}{}: {} {}", buffer.name, shift == "0" ? "" : sign,
                       fmt::join(shape, " x "), to_string(plan.types[index]));
}

/// "image.width" for the part of an argument that begins at this byte, and at this bit of it.
std::string part_name(const std::string& name, const compiler::Type& type, std::size_t offset,
                      std::size_t bit) {
    if (type.kind == compiler::Type::Kind::array && type.target && type.target->bytes > 0) {
        const std::size_t k = offset / type.target->bytes;
        return part_name(fmt::format("{}[{}]", name, k), *type.target,
                         offset - k * type.target->bytes, bit);
    }
    const auto is_behind = [&](const compiler::Member& one) {
        return std::pair(one.offset, one.type->first_bit) > std::pair(offset, bit);
    };
    const auto next = std::ranges::find_if(type.members, is_behind);
    if (next == type.members.begin()) return name;
    const compiler::Member& member = *std::prev(next);
    return part_name(name + "." + member.name, *member.type, offset - member.offset, bit);
}

std::string argument_words(const LaunchPlan& plan, const BoundArgument& argument,
                           const compiler::KernelParameter& parameter, const Names& names) {
    std::vector<std::string> all;
    for (const ArgumentPart& part : argument.parts) {
        const std::string name =
            part_name(parameter.name, *parameter.type, part.offset, part.first_bit);
        if (const auto* buffer = std::get_if<std::size_t>(&part.value))
            all.push_back(buffer_words(plan, *buffer, part.shift, names));
        else if (const auto* texture = std::get_if<TextureArgument>(&part.value))
            all.push_back(
                name + " of " +
                buffer_words(plan, plan.file.index_of(plan.file.textures[texture->index].buffer),
                             Expression("0"), names));
        else if (const auto* number = std::get_if<Expression>(&part.value))
            all.push_back(fmt::format("{} = {}", name, value_words(*number, names)));
        else if (const auto* function = std::get_if<std::string>(&part.value))
            all.push_back(name + " = " + *function);
        else
            all.push_back(name + " = null");
    }
    constexpr std::size_t most = 8;
    // A functor has no members.
    if (all.size() > most || all.empty()) return parameter.name;
    return fmt::format("{}", fmt::join(all, ", "));
}

std::string launch_words(const LaunchPlan& plan, const BoundLaunch& launch, const Names& names) {
    std::vector<std::string> arguments;
    const auto* const kernel = find_signature(plan.signatures, launch.entry);
    for (std::size_t p = 0; kernel && p < launch.arguments.size(); ++p)
        arguments.push_back(
            argument_words(plan, launch.arguments[p], kernel->parameters[p], names));
    const std::string shared = value_words(launch.spec.shared, names);
    return fmt::format("{}<<<{}, {}{}>>>({})", launch.name, sizes_words(launch.spec.grid, names),
                       sizes_words(launch.spec.block, names), shared == "0" ? "" : ", " + shared,
                       fmt::join(arguments, ", "));
}

}  // namespace

ProposalWords proposal_words(const std::shared_ptr<const LaunchPlan>& plan,
                             std::span<const Assignment> values) {
    ProposalWords words;
    if (!plan || !plan->proposed) return words;
    LaunchParameters parameters(plan);
    parameters.parse(values);
    const Names names = parameters.names(0);
    for (std::size_t i = 0; i < plan->launches.size(); ++i) {
        const BoundLaunch& launch = plan->launches[i];
        words.launches.push_back(launch_words(*plan, launch, names));
        if (i >= plan->guesses.size()) continue;
        if (!plan->chosen[i].empty())
            words.chosen[launch.name].insert(plan->chosen[i].begin(), plan->chosen[i].end());
        for (const std::string& guess : plan->guesses[i]) {
            auto& of_kernel = words.guesses[launch.name];
            const bool is_given = std::ranges::find(values, guess, &Assignment::id) != values.end();
            if (!is_given && std::ranges::find(of_kernel, guess) == of_kernel.end())
                of_kernel.push_back(guess);
        }
    }
    std::erase_if(words.guesses, [](const auto& one) { return one.second.empty(); });
    words.reduced = plan->reduced;
    words.not_launched = plan->not_launched;
    words.remarks = plan->remarks;
    return words;
}

}  // namespace warpscope::experiments
