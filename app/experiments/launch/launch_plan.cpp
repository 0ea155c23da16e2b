#include "experiments/launch/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "launches/files/element_types.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

using compiler::Signature;
using compiler::Type;

/// "f<256U, int>" is "f<256,int>": without spaces and the suffixes of integers.
std::string plain_name(const std::string& name) {
    std::string plain;
    bool in_number = false;
    for (const char c : name) {
        const bool is_digit = c >= '0' && c <= '9';
        const bool in_word = !plain.empty() && (std::isalnum(plain.back()) || plain.back() == '_');
        in_number =
            is_digit ? in_number || !in_word : in_number && (std::strchr("uUlL", c) != nullptr);
        if (c != ' ' && (is_digit || !in_number)) plain += c;
    }
    return plain;
}

const Signature& find_kernel(std::span<const Signature> signatures, const std::string& name,
                             const std::string& field) {
    if (const Signature* const found = find_signature(signatures, name)) return *found;
    std::vector<std::string> known;
    for (const Signature& signature : signatures) known.push_back(signature.name);
    throw LaunchError(fmt::format("{}: the source has no kernel {}; it has: {}", field, name,
                                  fmt::join(known, ", ")));
}

std::string parameter_names(const Signature& signature) {
    std::vector<std::string> names;
    for (const auto& parameter : signature.parameters) names.push_back(parameter.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Whether a person has written a number, or what gives an infinity or a NaN. The results of other
/// expressions are converted as C++ does.
bool is_number(const Expression& expression) {
    if (!expression.names().empty()) return false;
    char* end = nullptr;
    const std::string& text = expression.text();
    (void)std::strtod(text.c_str(), &end);
    return end == text.c_str() + text.size() || !std::isfinite(real(expression.value(Names())));
}

/// Whether the type has this number: a float may round it, and an integer must have its value.
bool fits(const Number& number, const ElementType& type) {
    Array array(type, {1});
    array.set(0, number);
    if (type.is_real()) return std::isfinite(real(array.at(0))) || !std::isfinite(real(number));
    const bool is_negative = real(number) < 0;
    if (type.kind == ElementKind::unsigned_integer && is_negative) return false;
    return array.at(0) == number || real(array.at(0)) == real(number);
}

/// Binds the arguments of one launch.
class Binder {
  public:
    Binder(LaunchPlan& plan, std::vector<bool>& typed, std::string field,
           const std::vector<compiler::ModuleVariable>& variables)
        : plan_(plan), typed_(typed), field_(std::move(field)), variables_(variables) {}

    BoundLaunch bind(const LaunchSpec& spec, const Signature& signature) {
        const bool cooperative = spec.cooperative || signature.traits.synchronises_grid;
        BoundLaunch bound{spec, signature.name, signature.entry, cooperative, {}};
        for (const auto& [name, value] : spec.arguments) {
            const auto is_it = [&wanted = name](const auto& p) { return p.name == wanted; };
            if (std::ranges::none_of(signature.parameters, is_it))
                throw LaunchError(fmt::format("{}.arguments: {} has no parameter {}; it has: {}",
                                              field_, signature.name, name,
                                              parameter_names(signature)));
        }
        for (const compiler::KernelParameter& parameter : signature.parameters) {
            BoundArgument argument{parameter.type->bytes, {}};
            const std::string place = fmt::format("{}.arguments.{}", field_, parameter.name);
            add(argument, 0, *parameter.type, value_of(spec, parameter), place);
            bound.arguments.push_back(std::move(argument));
        }
        return bound;
    }

  private:
    /// The value that the launch file gives, or the scalar or buffer of the parameter's name.
    ArgumentSpec value_of(const LaunchSpec& spec,
                          const compiler::KernelParameter& parameter) const {
        for (const auto& [name, value] : spec.arguments)
            if (name == parameter.name) return value;
        const bool known = plan_.file.find_buffer(parameter.name) || parameter.name == "time" ||
                           parameter.name == "frame" ||
                           std::ranges::any_of(plan_.file.scalars, [&](const auto& scalar) {
                               return scalar.first == parameter.name;
                           });
        if (!known && is_image(*parameter.type) && !plan_.file.find_texture(parameter.name))
            throw LaunchError(fmt::format(
                "{}.arguments: the parameter {} {} has no value: describe a texture of its name "
                "under \"textures\"",
                field_, parameter.type->name, parameter.name));
        if (!known && !is_image(*parameter.type))
            throw LaunchError(
                fmt::format("{}.arguments: the parameter {} {} has no value: give it one here, or "
                            "a {} of its name",
                            field_, parameter.type->name, parameter.name,
                            parameter.type->kind == Type::Kind::pointer ? "buffer" : "scalar"));
        return {.text = parameter.name};
    }

    void add(BoundArgument& to, std::size_t offset, const Type& type, const ArgumentSpec& value,
             const std::string& place) {
        if (type.kind == Type::Kind::pointer) return add_pointer(to, offset, type, value, place);
        if (type.kind == Type::Kind::structure) return add_struct(to, offset, type, value, place);
        if (type.kind == Type::Kind::array && type.target) {
            if (!value.elements.empty() && value.elements.size() != type.count)
                throw LaunchError(fmt::format("{}: {} has {} elements; write as many values", place,
                                              type.name, type.count));
            for (std::size_t i = 0; i < type.count; ++i)
                add(to, offset + i * type.target->bytes, *type.target,
                    value.elements.empty() ? value : value.elements[i], place);
            return;
        }
        if (!value.elements.empty())
            throw LaunchError(fmt::format("{}: {} is no array; write one value", place, type.name));
        if (is_image(type)) return add_texture(to, offset, is_surface(type), value, place);
        const bool is_bit_field = type.kind == Type::Kind::bit_field;
        const auto number = number_type(is_bit_field ? *type.target : type);
        if (!number)
            throw LaunchError(fmt::format(
                "{}: a value of type {} can't be passed from a launch file", place, type.name));
        if (!value.text || plan_.file.find_buffer(*value.text))
            throw LaunchError(fmt::format("{}: {}write a number or an expression for the {}", place,
                                          value.text ? *value.text + " is a buffer; " : "",
                                          type.name));
        try {
            const Expression expression(*value.text);
            if (is_number(expression) && !fits(expression.value(Names()), *number))
                throw LaunchError(
                    fmt::format("{} does not fit into the type {}", *value.text, type.name));
            to.parts.push_back({.offset = offset,
                                .type = *number,
                                .value = expression,
                                .bits = is_bit_field ? type.count : 0,
                                .first_bit = type.first_bit});
        } catch (const LaunchError& error) {
            throw LaunchError(fmt::format("{}: {}", place, error.what()));
        }
    }

    void add_texture(BoundArgument& to, std::size_t offset, bool is_surface,
                     const ArgumentSpec& value, const std::string& place) const {
        const std::string name = value.text.value_or("null");
        const auto& textures = plan_.file.textures;
        const auto found = std::ranges::find(textures, name, &TextureSpec::name);
        if (found == textures.end())
            throw LaunchError(fmt::format(
                "{}: \"{}\" is no texture; write the name of one under \"textures\"", place, name));
        to.parts.push_back(
            {offset, {}, TextureArgument{std::size_t(found - textures.begin()), is_surface}});
    }

    void add_struct(BoundArgument& to, std::size_t offset, const Type& type,
                    const ArgumentSpec& value, const std::string& place) {
        std::vector<std::string> names;
        for (const compiler::Member& member : type.members) names.push_back(member.name);
        for (const auto& [name, given] : value.members)
            if (std::ranges::find(names, name) == names.end())
                throw LaunchError(fmt::format("{}: {} has no member {}; it has: {}", place,
                                              type.name, name, fmt::join(names, ", ")));
        if (is_union(type) && value.members.size() != 1)
            throw LaunchError(fmt::format("{}: {} is a union: give one of its members: {}", place,
                                          type.name, fmt::join(names, ", ")));
        for (const compiler::Member& member : type.members) {
            const auto given = std::ranges::find_if(
                value.members, [&](const auto& named) { return named.first == member.name; });
            if (given == value.members.end() && is_union(type)) continue;
            if (given == value.members.end())
                throw LaunchError(
                    fmt::format("{}: the member {} of {} has no value; write an object with: {}",
                                place, member.name, type.name, fmt::join(names, ", ")));
            add(to, offset + member.offset, *member.type, given->second, place + "." + member.name);
        }
    }

    void add_pointer(BoundArgument& to, std::size_t offset, const Type& type,
                     const ArgumentSpec& value, const std::string& place) {
        if (!value.elements.empty())
            throw LaunchError(
                fmt::format("{}: write the name of a buffer, or null, for the {}; a pointer takes "
                            "no numbers",
                            place, type.name));
        if (!value.text && value.members.empty()) {
            to.parts.push_back({offset, {}, nullptr});
            return;
        }
        const std::string text = value.text.value_or("{…}");
        if (type.target && type.target->kind == Type::Kind::function)
            return add_function(to, offset, text, place);
        const auto& buffers = plan_.file.buffers;
        const std::string name = text.substr(0, text.find_first_of(" +-"));
        const auto found = std::ranges::find(buffers, name, &BufferSpec::name);
        if (found == buffers.end())
            throw LaunchError(
                fmt::format("{}: \"{}\" is no buffer; write the name of one, as in \"x\" or \"x + "
                            "2\", or null",
                            place, text));
        const auto index = std::size_t(found - buffers.begin());
        if (type.target) match(index, *type.target, place);
        const std::size_t sign = text.find_first_of("+-");
        const std::size_t begin = text.find_first_not_of(' ', name.size());
        ArgumentPart part{offset, {}, index};
        if (begin != std::string::npos) {
            if (begin != sign)
                throw LaunchError(
                    fmt::format("{}: \"{}\": + or - is missing behind the buffer", place, text));
            try {
                part.shift = Expression("0 " + text.substr(sign));
            } catch (const LaunchError& error) {
                throw LaunchError(fmt::format("{}: {}", place, error.what()));
            }
            part.shift_bytes = type.target ? type.target->bytes : 0;
            if (part.shift_bytes == 0) part.shift_bytes = plan_.types[index].size();
        }
        to.parts.push_back(std::move(part));
    }

    void add_function(BoundArgument& to, std::size_t offset, const std::string& function,
                      const std::string& place) const {
        // The function, or a variable of the source that is a pointer to one.
        const auto found = std::ranges::find_if(variables_, [&](const auto& variable) {
            return variable.name == address_variable(function) ||
                   (variable.name == function && is_function_pointer(*variable.type));
        });
        if (found == variables_.end())
            throw LaunchError(
                fmt::format("{}: \"{}\" is no __device__ function of the source; write the name of "
                            "one, of a __device__ variable that points to one, or null",
                            place, function));
        to.parts.push_back({offset, {}, found->entry});
    }

    /// A buffer without a type takes that of the pointer. Pointers to bytes and to structs take
    /// any, and any pointer takes bytes.
    void match(std::size_t index, const Type& target, const std::string& place) {
        const auto element = element_type(target);
        ElementType& type = plan_.types[index];
        if (!typed_[index] && target.kind == Type::Kind::pointer) {
            type = {ElementKind::unsigned_integer, 8};
            typed_[index] = true;
        } else if (!typed_[index] && element) {
            type = *element;
            typed_[index] = true;
        } else if (const auto row = typed_[index] ? std::nullopt : row_of(target)) {
            type = row->number;
            plan_.rows[index] = row->count;
            typed_[index] = true;
        }
        if (!typed_[index] || !element || element->size() == 1 || type.bytes == 1) return;
        // One number after the other: a float4* may point at floats.
        const bool only_lanes_differ = type.kind == element->kind && type.bytes == element->bytes;
        if (!only_lanes_differ)
            throw LaunchError(
                fmt::format("{}: the parameter points at {}, but the buffer {} holds {}", place,
                            target.name, plan_.file.buffers[index].name, to_string(type)));
    }

    LaunchPlan& plan_;
    std::vector<bool>& typed_;
    std::string field_;
    const std::vector<compiler::ModuleVariable>& variables_;
};

/// The variable with the buffer's name. Null: there is none.
const compiler::ModuleVariable* find_variable(
    const std::vector<compiler::ModuleVariable>& variables, const std::string& buffer) {
    const auto has_name = [&](const auto& variable) { return variable.name == buffer; };
    const auto found = std::ranges::find_if(variables, has_name);
    if (found == variables.end()) return nullptr;
    if (std::ranges::count_if(variables, has_name) > 1)
        throw LaunchError(
            fmt::format("buffers.{}: several variables of the source have this name", buffer));
    return &*found;
}

bool is_argument(const LaunchPlan& plan, std::size_t buffer) {
    for (const BoundLaunch& launch : plan.launches)
        for (const BoundArgument& argument : launch.arguments)
            for (const ArgumentPart& part : argument.parts)
                if (const auto* index = std::get_if<std::size_t>(&part.value);
                    index && *index == buffer)
                    return true;
    return false;
}

/// Throws LaunchError for a buffer that is to be saved and that nothing of the source can write.
void check_saved(const LaunchPlan& plan, std::size_t buffer,
                 const std::vector<Signature>& signatures) {
    const std::string& name = plan.file.buffers[buffer].name;
    const auto& textures = plan.file.textures;
    const bool is_saved =
        std::ranges::any_of(plan.file.save, [&](const auto& saved) { return saved.first == name; });
    if (!is_saved || std::ranges::find(textures, name, &TextureSpec::buffer) != textures.end())
        return;
    const Signature& kernel = find_kernel(signatures, plan.launches.front().spec.kernel, "");
    throw LaunchError(
        fmt::format("save.{0}: {1} has no parameter {0}, and the source no variable {0}; {1} has "
                    "the parameters: {2}",
                    name, kernel.name, parameter_names(kernel)));
}

/// The type of the numbers of a variable, which may be an array of arrays.
const Type* innermost(const Type* type) {
    while (type && type->kind == Type::Kind::array) type = type->target.get();
    return type;
}

}  // namespace

const Signature* find_signature(std::span<const Signature> signatures, const std::string& name) {
    const std::string wanted = plain_name(name);
    for (const Signature& signature : signatures)
        if (plain_name(signature.name) == wanted || signature.entry == name) return &signature;
    return nullptr;
}

std::string address_variable(const std::string& function) {
    std::string name = "warpscope_address_of_";
    for (const char c : function)
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name;
}

std::string source_key(const LaunchFile& file) {
    return (file.built_in ? "gallery/" : "launch/") + file.source.stem().string();
}

std::vector<TextureArgument> textures_of(const BoundLaunch& launch) {
    std::vector<TextureArgument> found;
    for (const BoundArgument& argument : launch.arguments)
        for (const ArgumentPart& part : argument.parts)
            if (const auto* texture = std::get_if<TextureArgument>(&part.value))
                found.push_back(*texture);
    return found;
}

LaunchPlan uncompiled_plan(const LaunchFile& file) {
    LaunchPlan plan{file, source_key(file), std::vector<ElementType>(file.buffers.size()), {}};
    plan.variables.resize(file.buffers.size());
    plan.rows.resize(file.buffers.size());
    for (const LaunchSpec& spec : file.launches)
        plan.launches.push_back({.spec = spec, .name = spec.kernel, .entry = "", .arguments = {}});
    return plan;
}

LaunchPlan plan_launch(const LaunchFile& file, std::vector<Signature> signatures,
                       const std::vector<compiler::ModuleVariable>& variables) {
    LaunchPlan plan{file, source_key(file), std::vector<ElementType>(file.buffers.size()), {}};
    plan.variables.resize(file.buffers.size());
    plan.rows.resize(file.buffers.size());
    std::vector<bool> typed(file.buffers.size());
    for (std::size_t i = 0; i < file.buffers.size(); ++i) {
        typed[i] = file.buffers[i].type.has_value();
        if (typed[i]) plan.types[i] = *file.buffers[i].type;
    }
    for (std::size_t i = 0; i < file.launches.size(); ++i) {
        const std::string field = fmt::format("launches[{}]", i);
        const LaunchSpec& spec = file.launches[i];
        const Signature& signature = find_kernel(signatures, spec.kernel, field + ".kernel");
        plan.launches.push_back(Binder(plan, typed, field, variables).bind(spec, signature));
    }
    for (std::size_t i = 0; i < typed.size(); ++i) {
        if (is_argument(plan, i)) continue;
        const auto* variable = find_variable(variables, file.buffers[i].name);
        if (!variable) {
            if (!plan.launches.empty()) check_saved(plan, i, signatures);
            continue;
        }
        plan.variables[i] = variable->entry;
        const Type* const type = innermost(variable->type.get());
        if (typed[i] || !type) continue;
        const auto element = element_type(*type);
        const auto row = element ? std::nullopt : row_of(*type);
        if (!element && !row) continue;
        plan.types[i] = element ? *element : row->number;
        plan.rows[i] = row ? row->count : 0;
        typed[i] = true;
    }
    for (std::size_t i = 0; i < typed.size(); ++i)
        if (!typed[i])
            throw LaunchError(fmt::format(
                "buffers.{}: \"type\" is missing, and no parameter and no variable of the source "
                "says what the buffer holds",
                file.buffers[i].name));
    plan.signatures = std::move(signatures);
    return plan;
}

bool frames_differ(const LaunchPlan& plan) {
    const auto differs = [&](const Expression& expression) {
        return depends_on_frame(plan.file, expression);
    };
    const auto any = [&](const std::vector<Expression>& all) {
        return std::ranges::any_of(all, differs);
    };
    const auto part_differs = [&](const ArgumentPart& part) {
        const auto* const number = std::get_if<Expression>(&part.value);
        return differs(part.shift) || (number && differs(*number));
    };
    const auto buffer_differs = [&](const BufferSpec& buffer) {
        const auto* const fill = std::get_if<Expression>(&buffer.fill);
        return !buffer.keep.empty() || (fill && differs(*fill));
    };
    const auto launch_differs = [&](const BoundLaunch& launch) {
        const LaunchSpec& spec = launch.spec;
        return any(spec.grid) || any(spec.block) || any(spec.cluster) || differs(spec.shared) ||
               differs(spec.repeat) ||
               std::ranges::any_of(launch.arguments, [&](const BoundArgument& argument) {
                   return std::ranges::any_of(argument.parts, part_differs);
               });
    };
    return std::ranges::any_of(plan.file.buffers, buffer_differs) ||
           std::ranges::any_of(plan.launches, launch_differs);
}

}  // namespace warpscope::experiments
