#include "experiments/proposals/propose_launch.h"

#include <algorithm>

#include "compiler/host/template_kernels.h"
#include "experiments/launch_files/element_types.h"
#include "experiments/proposals/proposal.h"

namespace warpscope::experiments {
namespace {

using compiler::Signature;

/// "f<256U, int>" has these arguments.
bool has_arguments(const Signature& kernel, const std::vector<std::string>& templates) {
    const std::size_t open = kernel.name.find('<');
    if (open == std::string::npos) return templates.empty();
    const auto plain = [](std::string_view text) {
        std::string all;
        for (const char c : text)
            if (std::string_view(" uUlL").find(c) == std::string_view::npos) all += c;
        return all;
    };
    std::string list = "<";
    for (const std::string& one : templates) list += (list.size() > 1 ? "," : "") + one;
    return plain(kernel.name.substr(open)) == plain(list + ">");
}

}  // namespace

LaunchFile file_without_launches(const LaunchFile& file) {
    LaunchFile made;
    made.source = file.source;
    made.include = file.include;
    made.defines = file.defines;
    made.target = file.target;
    made.file = file.file;
    made.saved = false;
    made.built_in = file.built_in;
    return made;
}

const HostLaunch* find_launch(const HostProgram& program, const Signature& kernel) {
    const std::string_view name = compiler::template_name(kernel.name);
    const HostLaunch* found = nullptr;
    for (const HostLaunch& launch : program.launches) {
        if (launch.kernel != name) continue;
        if (has_arguments(kernel, launch.templates)) return &launch;
        if (!found) found = &launch;
    }
    return found;
}

ProposedLaunches propose_launches(LaunchFile file, std::span<const ProposedKernel> kernels,
                                  const HostProgram& program,
                                  const std::vector<compiler::ModuleVariable>& variables,
                                  const std::set<std::string>& device_words) {
    const auto add_all = [&](Proposal& proposal) {
        for (const compiler::ModuleVariable& variable : variables)
            if (is_function_pointer(*variable.type))
                proposal.add_function(variable);
            else if (variable.is_for_host || find_array(program, variable.name))
                proposal.add_variable(variable);
        for (const ProposedKernel& kernel : kernels) proposal.add_launch(kernel);
    };
    std::set<std::string> written;
    for (const HostLaunch& launch : program.launches)
        if (std::ranges::none_of(kernels, [&](const ProposedKernel& kernel) {
                return kernel.host && *kernel.host == launch;
            }))
            for (const std::string& argument : launch.arguments)
                written.insert(place_of(program, argument).array);
    Proposal proposal(file, program, written);
    add_all(proposal);
    const std::set<std::string> mixed = proposal.mixed();
    if (mixed.empty()) return proposal.made(device_words);
    Proposal again(std::move(file), program, written, mixed);
    add_all(again);
    return again.made(device_words);
}

LaunchFile propose_launch(LaunchFile file, const Signature& kernel, const HostProgram& program,
                          const std::vector<compiler::ModuleVariable>& variables) {
    const ProposedKernel one{&kernel, find_launch(program, kernel)};
    return propose_launches(std::move(file), {&one, 1}, program, variables).file;
}

LaunchFile replace_launch(LaunchFile file, std::size_t index, const Signature& kernel,
                          const HostProgram& program, std::span<const std::string> variables) {
    if (file.launches.size() > 1) {
        file = propose_launch(std::move(file), kernel, program);
        file.launches[index] = std::move(file.launches.back());
        file.launches.pop_back();
        return file;
    }
    LaunchFile anew = file_without_launches(file);
    for (BufferSpec& buffer : file.buffers)
        if (std::ranges::find(variables, buffer.name) != variables.end())
            anew.buffers.push_back(std::move(buffer));
    return propose_launch(std::move(anew), kernel, program);
}

}  // namespace warpscope::experiments
