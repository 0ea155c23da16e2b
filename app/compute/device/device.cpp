#include "compute/device/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/signature.h"
#include "compute/device/kernel_files.h"

namespace warpscope::compute {

void LoadedKernel::check_sizes(std::span<const std::size_t> expected,
                               std::span<const std::size_t> given) const {
    constexpr const char* advice = "an edited kernel keeps the parameters of the shipped one";
    if (expected.size() != given.size())
        throw DeviceError(fmt::format("kernel {} takes {} arguments, not {}: {}", name,
                                      expected.size(), given.size(), advice));
    for (std::size_t i = 0; i < given.size(); ++i)
        if (expected[i] != given[i])
            throw DeviceError(fmt::format("argument {} of kernel {} has {} bytes, not {}: {}", i,
                                          name, expected[i], given[i], advice));
}

void Device::set_exchange(std::shared_ptr<Exchange> exchange) {
    info_.name = fmt::format("{} × {}", exchange->ranks(), info_.name);
    info_.reason += "; " + exchange->words();
    info_.memory_bytes = exchange->memory_bytes();
    exchange_ = std::move(exchange);
}

void Device::set_edits(KernelEdits edits) {
    edits_ = std::move(edits);
    for (const auto& [file, edit] : edits_) used_.push_back(edit);
}

const KernelEdit* Device::edit_of(std::string_view file) {
    files_.emplace(file);
    const auto found = edits_.find(file);
    if (found == edits_.end()) return nullptr;
    if (found->second->math != settings_.math)
        throw DeviceError(fmt::format("{} was compiled for another math setting: compile it again",
                                      kernel_path(file)));
    return found->second.get();
}

const LoadedKernel& Device::kernel_of_sizes(std::string_view file, std::string_view name,
                                            std::span<const std::size_t> bytes) {
    const LoadedKernel& found = load(file, name, edit_of(file));
    found.check_arguments(bytes);
    return found;
}

Device::FirstValue Device::first_value(const DeviceVariable& variable) {
    FirstValue first{variable, std::vector<std::byte>(variable.bytes)};
    download(first.bytes.data(), variable.address, variable.bytes);
    const bool are_equal = std::ranges::all_of(
        first.bytes, [&](std::byte byte) { return byte == first.bytes.front(); });
    if (are_equal && !first.bytes.empty()) first.bytes = {first.bytes.front()};
    return first;
}

void Device::reset_variables(std::string_view file) {
    const KernelEdit* const edit = edit_of(file);
    if (!edit) return;
    const auto [found, is_first] = first_values_.try_emplace(edit);
    if (!is_first) {
        for (const auto& [variable, bytes] : found->second)
            if (bytes.size() == 1)
                fill(variable.address, std::uint8_t(bytes[0]), variable.bytes);
            else
                upload(variable.address, bytes.data(), bytes.size());
        return;
    }
    for (const std::string& name : compiler::changing_variables(edit->ptx)) {
        try {
            found->second.push_back(first_value(find_variable(file, name, edit)));
        } catch (const DeviceError&) {
            // The driver of a GPU leaves out variables that no kernel uses.
        }
    }
}

TextureHandle Device::make_texture(const emulator::Texture&, bool) {
    throw DeviceError("this device has no textures and surfaces");
}

void Device::launch(const LoadedKernel& kernel, const LaunchShape& shape, const Work& work,
                    std::span<void* const> arguments) {
    check_stop(kernel.name);
    launch_packed(kernel, shape, work, arguments);
}

std::string_view Device::source(std::string_view file) const {
    for (const auto& [name, edit] : edits_)
        if (kernel_path(name) == file) return edit->source;
    return kernel_source(file);
}

void Device::time_as(std::string_view name, const Work& work, const std::function<void()>& queue) {
    check_stop(name);
    if (!times_each_launch_) return queue();  // part of a group
    begin_group();
    times_each_launch_ = false;
    try {
        queue();
    } catch (...) {
        times_each_launch_ = true;
        throw;
    }
    times_each_launch_ = true;
    end_group(name, work);
}

}  // namespace warpscope::compute
