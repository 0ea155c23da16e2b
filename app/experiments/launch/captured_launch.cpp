#include "experiments/launch/captured_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "experiments/launch/launch_plan.h"
#include "launches/arrays/array.h"
#include "launches/files/element_types.h"

namespace warpscope::experiments {

using namespace launches;

namespace {

using compiler::Type;

/// Reads the values of one argument.
class ArgumentReader {
  public:
    ArgumentReader(std::string parameter, const CapturedArgument& captured)
        : parameter_(std::move(parameter)), captured_(captured) {}

    ArgumentSpec read(const Type& type, std::size_t offset) const {
        if (type.kind == Type::Kind::pointer) return pointer(type, offset);
        ArgumentSpec value;
        if (type.kind == Type::Kind::structure) {
            for (const compiler::Member& member : type.members) {
                value.members.emplace_back(member.name, read(*member.type, offset + member.offset));
                if (is_union(type)) break;
            }
            return value;
        }
        if (type.kind == Type::Kind::array && type.target) {
            for (std::size_t i = 0; i < type.count; ++i)
                value.elements.push_back(read(*type.target, offset + i * type.target->bytes));
            return value;
        }
        value.text = number(type, offset);
        return value;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw LaunchError(fmt::format("the captured argument {}: {}", parameter_, what));
    }

    ArgumentSpec pointer(const Type& type, std::size_t offset) const {
        const auto found = captured_.addresses.find(offset);
        if (found == captured_.addresses.end()) {
            std::uint64_t address = 0;
            std::memcpy(&address, at(offset, sizeof address), sizeof address);
            if (address == 0) return {};
            fail(fmt::format("{:#x} is the address of no memory that was captured", address));
        }
        const auto& [buffer, bytes] = found->second;
        if (bytes == 0) return {.text = buffer};
        const std::size_t element = type.target && type.target->bytes ? type.target->bytes : 1;
        if (bytes % element)
            fail(
                fmt::format("it begins {} bytes behind the beginning of {}, which is no multiple "
                            "of {}",
                            bytes, buffer, element));
        return {.text = fmt::format("{} + {}", buffer, bytes / element)};
    }

    /// C++ gives a bit-field of a signed type a sign.
    std::string bit_field(const Type& type, std::size_t offset) const {
        std::int64_t value = 0;
        std::memcpy(&value, at(offset, type.bytes), type.bytes);
        value = std::int64_t(std::uint64_t(value) << (64 - type.count - type.first_bit));
        const bool has_sign = type.target->kind == Type::Kind::signed_integer;
        const auto above = int(64 - type.count);
        return launches::to_string(
            Number(has_sign ? value >> above : std::int64_t(std::uint64_t(value) >> above)));
    }

    std::string number(const Type& type, std::size_t offset) const {
        if (type.kind == Type::Kind::bit_field) return bit_field(type, offset);
        const auto element = number_type(type);
        if (!element) fail(fmt::format("a value of type {} cannot be written down", type.name));
        Array one(*element, {1});
        std::memcpy(one.bytes.data(), at(offset, element->size()), element->size());
        const Number value = one.at(0);
        if (!std::isfinite(real(value))) fail("it is infinite or no number");
        // A float has fewer digits than the double of its value.
        if (element->bytes == 4 && element->is_real()) return fmt::format("{}", float(real(value)));
        return launches::to_string(value);
    }

    const std::byte* at(std::size_t offset, std::size_t bytes) const {
        if (offset + bytes > captured_.bytes.size())
            fail("the source has another type than the program");
        return captured_.bytes.data() + offset;
    }

    const std::string parameter_;
    const CapturedArgument& captured_;
};

std::vector<std::pair<std::string, ArgumentSpec>> named_arguments(
    const compiler::Signature& kernel, const std::vector<CapturedArgument>& captured) {
    if (captured.size() != kernel.parameters.size())
        throw LaunchError(fmt::format("{}: the source has {} parameters, the program had {}",
                                      kernel.name, kernel.parameters.size(), captured.size()));
    std::vector<std::pair<std::string, ArgumentSpec>> named;
    for (std::size_t i = 0; i < captured.size(); ++i) {
        const compiler::KernelParameter& parameter = kernel.parameters[i];
        named.emplace_back(parameter.name,
                           ArgumentReader(parameter.name, captured[i]).read(*parameter.type, 0));
    }
    return named;
}

/// Gives a buffer the name of the parameter that it is passed to, unless another thing has it.
void rename_buffer(LaunchFile& file, const std::string& from, const std::string& to) {
    const auto is_taken = [&](const auto& named) { return named.first == to; };
    if (to.empty() || file.find_buffer(to) || std::ranges::any_of(file.scalars, is_taken)) return;
    file.buffers[file.index_of(from)].name = to;
    for (LaunchSpec& launch : file.launches)
        for (CapturedArgument& argument : launch.captured)
            for (auto& [at, address] : argument.addresses)
                if (address.buffer == from) address.buffer = to;
    for (Expectation& expected : file.expect)
        if (expected.buffer == from) expected.buffer = to;
    if (file.show == from) file.show = to;
}

}  // namespace

LaunchFile with_named_arguments(LaunchFile file, std::span<const compiler::Signature> signatures,
                                std::span<const compiler::ModuleVariable> variables) {
    std::set<std::string> passed;
    for (std::size_t i = 0; i < file.launches.size(); ++i) {
        if (file.launches[i].captured.empty()) continue;
        const auto* kernel = find_signature(signatures, file.launches[i].kernel);
        if (!kernel) continue;
        const auto before = file.launches[i].captured;
        for (std::size_t a = 0; a < std::min(before.size(), kernel->parameters.size()); ++a)
            if (const auto whole = before[a].addresses.find(0); whole != before[a].addresses.end())
                rename_buffer(file, whole->second.buffer, kernel->parameters[a].name);
        LaunchSpec& launch = file.launches[i];
        launch.arguments = named_arguments(*kernel, launch.captured);
        for (const CapturedArgument& argument : launch.captured)
            for (const auto& [at, address] : argument.addresses) passed.insert(address.buffer);
        launch.captured.clear();
        file.of_program = true;
    }
    if (passed.empty()) return file;
    std::erase_if(file.buffers, [&](const BufferSpec& buffer) {
        const bool is_variable = std::ranges::any_of(
            variables, [&](const auto& variable) { return variable.name == buffer.name; });
        return !passed.contains(buffer.name) && !is_variable;
    });
    if (!file.find_buffer(file.show)) file.show.clear();
    std::erase_if(file.expect, [&](const Expectation& e) { return !file.find_buffer(e.buffer); });
    return file;
}

}  // namespace warpscope::experiments
