#include <algorithm>

#include "experiments/proposals/proposal.h"

namespace warpscope::experiments {

void Proposal::guess(const std::string& what, const std::string& of) {
    if (std::ranges::find(guesses_, what) == guesses_.end()) guesses_.push_back(what);
    if (!of.empty()) guessed_[of].insert(what);
}

/// What was guessed of a scalar or a buffer for one launch is a guess of each launch that has it.
void Proposal::repeat_guesses(const LaunchSpec& launch) {
    Texts used = launch.grid;
    used.insert(used.end(), launch.block.begin(), launch.block.end());
    used.push_back(launch.shared);
    const auto add = [&](const auto& self, const ArgumentSpec& argument) -> void {
        for (const auto& [name, member] : argument.members) self(self, member);
        for (const ArgumentSpec& element : argument.elements) self(self, element);
        if (argument.text) used.emplace_back(*argument.text);
    };
    for (const auto& [parameter, argument] : launch.arguments) add(add, argument);
    // The others take the scalar or the buffer of their name.
    for (const compiler::KernelParameter& parameter : kernel_->parameters) {
        const std::string& name = parameter.name;
        const bool is_given = std::ranges::any_of(
            launch.arguments, [&](const auto& argument) { return argument.first == name; });
        if (!is_given && (find_scalar(name) || file().find_buffer(name))) used.emplace_back(name);
    }
    const auto uses = [&](const std::string& name) {
        return std::ranges::any_of(used, [&](const Expression& expression) {
            return depends_on(file(), expression, {&name, 1});
        });
    };
    for (const BufferSpec& buffer : file().buffers)
        if (uses(buffer.name)) used.insert(used.end(), buffer.shape.begin(), buffer.shape.end());
    for (const auto& [name, guesses] : guessed_)
        if (uses(name))
            for (const std::string& one : guesses) guess(one);
}

/// Only numbers that lead to addresses or decide branches can lead to a finding.
void Proposal::use_unknown(const std::set<std::string>& numbers, const compiler::MemoryUse& use) {
    for (const std::string& one : numbers)
        if (use.steers)
            guess(one);
        else if (use.reads && !overwritten_.contains(one))
            chosen_.insert(one);
}

void Proposal::use_numbers(const std::string& buffer, const compiler::MemoryUse& use) {
    if (use.reads) read_.insert(buffer);
    if (use.writes) changed_.insert(buffer);
    use_unknown(unknown_[buffer], use);
    if (use.writes && !use.reads) overwritten_.insert("the numbers of " + buffer);
}

/// What the kernel writes depends on all numbers that it reads.
void Proposal::pass_numbers() {
    for (const std::string& buffer : changed_)
        for (const std::string& other : read_)
            if (buffer != other)
                unknown_[buffer].insert(unknown_[other].begin(), unknown_[other].end());
}

}  // namespace warpscope::experiments
