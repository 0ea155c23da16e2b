#include "jobs/debugger/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/warp/memory.h"
#include "launches/arrays/array.h"
#include "launches/files/element_types.h"

namespace warpscope::jobs {

using compiler::Type;
using emulator::Dim3;
using emulator::Space;
using launches::LaunchError;
using launches::Number;

namespace {

constexpr std::size_t most_previewed = 4;

TypePointer number_named(const char* name, Type::Kind kind, std::size_t bytes) {
    return std::make_shared<const Type>(
        Type{.kind = kind, .name = name, .canonical = name, .bytes = bytes});
}
TypePointer unsigned_type() {
    static const TypePointer type = number_named("unsigned int", Type::Kind::unsigned_integer, 4);
    return type;
}
TypePointer float_type() {
    static const TypePointer type = number_named("float", Type::Kind::floating, 4);
    return type;
}

/// The type that a statement such as "ld.shared.v2.f32" gives to memory.
TypePointer type_in(std::string_view statement) {
    const std::string_view opcode = statement.substr(0, statement.find_first_of(" \t"));
    const std::string_view word = opcode.substr(std::min(opcode.rfind('.') + 1, opcode.size()));
    if (word == "f32") return float_type();
    if (word == "f64") return number_named("double", Type::Kind::floating, 8);
    if (word == "s32") return number_named("int", Type::Kind::signed_integer, 4);
    if (word.ends_with("64")) return number_named("long long", Type::Kind::signed_integer, 8);
    if (word.ends_with("16")) return number_named("short", Type::Kind::signed_integer, 2);
    if (word.ends_with("8")) return number_named("unsigned char", Type::Kind::unsigned_integer, 1);
    return unsigned_type();
}

TypePointer array_of(const TypePointer& element, std::size_t bytes) {
    const std::size_t count = element->bytes ? bytes / element->bytes : 0;
    return std::make_shared<const Type>(Type{.kind = Type::Kind::array,
                                             .name = fmt::format("{}[{}]", element->name, count),
                                             .canonical = {},
                                             .bytes = bytes,
                                             .members = {},
                                             .target = element,
                                             .count = count});
}

TypePointer pointer_to(const TypePointer& target) {
    return std::make_shared<const Type>(Type{.kind = Type::Kind::pointer,
                                             .name = target->name + "*",
                                             .canonical = {},
                                             .bytes = 8,
                                             .members = {},
                                             .target = target});
}

std::uint64_t integer_at(const std::byte* bytes, std::size_t count) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, std::min<std::size_t>(count, 8));
    return value;
}

/// The number that lies at a value; nullopt: no number does.
std::optional<Number> number_at(const Value& value) {
    if (!value.bytes || !value.type) return {};
    const auto element = launches::number_type(*value.type);
    if (element) {
        launches::Array one(*element, {1});
        std::memcpy(one.bytes.data(), value.bytes, one.bytes.size());
        return one.at(0);
    }
    if (value.type->kind == Type::Kind::pointer || value.type->kind == Type::Kind::enumeration)
        return Number(std::int64_t(integer_at(value.bytes, value.type->bytes)));
    if (value.type->kind != Type::Kind::bit_field) return {};
    const std::uint64_t bits = integer_at(value.bytes, value.type->bytes) >> value.type->first_bit;
    return Number(std::int64_t(bits & ((1ULL << value.type->count) - 1)));
}

std::string number_text(const Type& type, const Number& number) {
    if (type.kind == Type::Kind::boolean) return launches::real(number) != 0 ? "true" : "false";
    if (type.kind == Type::Kind::pointer) return fmt::format("{:#x}", launches::whole(number));
    if (type.kind == Type::Kind::floating && type.bytes <= 4)
        return fmt::format("{}", float(launches::real(number)));
    return launches::to_string(number);
}

Value kept_value(std::string name, const TypePointer& type, std::vector<std::byte> bytes) {
    Value value{.name = std::move(name), .type = type};
    value.kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    value.bytes = value.kept->data();
    return value;
}

TypePointer dim3_type() {
    static const TypePointer type = [] {
        Type made{
            .kind = Type::Kind::structure, .name = "uint3", .canonical = "uint3", .bytes = 12};
        for (std::size_t i = 0; i < 3; ++i)
            made.members.push_back({std::string(1, "xyz"[i]), i * 4, unsigned_type()});
        return std::make_shared<const Type>(std::move(made));
    }();
    return type;
}

template <class T>
Value builtin(const char* name, const TypePointer& type, const T& content) {
    std::vector<std::byte> bytes(sizeof content);
    std::memcpy(bytes.data(), &content, sizeof content);
    return kept_value(name, type, std::move(bytes));
}

Value part_named(const std::vector<Value>& values, const std::string& name) {
    const auto found = std::ranges::find(values, name, &Value::name);
    return found == values.end() ? Value{} : *found;
}

Number register_number(const emulator::RegisterInfo& reg, std::uint64_t bits) {
    if (reg.is_float)
        return reg.bits == 64 ? std::bit_cast<double>(bits)
                              : double(std::bit_cast<float>(std::uint32_t(bits)));
    if (reg.bits == 1 || reg.bits == 64) return std::int64_t(bits);
    return reg.bits == 16 ? std::int64_t(std::int16_t(bits)) : std::int64_t(std::int32_t(bits));
}

}  // namespace

LaneValues::LaneValues(const emulator::Stepper& stepper, const emulator::Memory& memory,
                       KernelTypes types)
    : stepper_(stepper), memory_(memory), types_(std::move(types)), writes_(stepper.kernel()) {
    const emulator::Kernel& kernel = stepper.kernel();
    for (std::size_t i = 0; i < kernel.shared_variables.size(); ++i)
        shared_types_.push_back(type_of_array(kernel.shared_variables[i], i));
    const bool has_types = types_.parameters.size() == kernel.parameters.size();
    const bool has_floats = std::ranges::any_of(kernel.lines, [](const auto& info) {
        return info.access != emulator::MemoryAccess::none && info.space != Space::shared &&
               info.text.find(".f32") != std::string::npos;
    });
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const std::size_t bytes = kernel.parameters[i].size;
        TypePointer type = has_types ? types_.parameters[i].type : nullptr;
        if (!type && bytes == 8) type = pointer_to(has_floats ? float_type() : unsigned_type());
        if (!type) type = bytes == 4 ? unsigned_type() : array_of(type_in("ld.u8"), bytes);
        argument_types_.push_back(type);
    }
}

/// As the debug information has it, or else as the first access has it.
TypePointer LaneValues::type_of_array(const emulator::SharedVariable& variable,
                                      std::size_t index) const {
    const std::size_t all = stepper_.shared_memory().size();
    const std::size_t bytes =
        variable.bytes ? variable.bytes : all - std::min<std::size_t>(all, variable.offset);
    TypePointer element;
    for (const compiler::VariableType& known : types_.variables) {
        if (known.entry != variable.name) continue;
        if (known.type->bytes == bytes) return known.type;
        if (known.type->kind == Type::Kind::array) element = known.type->target;
    }
    for (const emulator::InstructionInfo& info : stepper_.kernel().lines)
        if (!element && info.access != emulator::MemoryAccess::none && info.base == int(index))
            element = type_in(info.text);
    return array_of(element ? element : unsigned_type(), bytes);
}

std::vector<Value> LaneValues::registers(std::uint32_t warp, unsigned lane) const {
    const emulator::Kernel& kernel = stepper_.kernel();
    std::vector<Value> values;
    for (const emulator::RecentRegister& one :
         emulator::recent_registers(stepper_, writes_, warp, lane, kernel.registers.size())) {
        const emulator::RegisterInfo& reg = kernel.registers[one.index];
        const std::string set = kernel.where(stepper_.history()[one.step].pc);
        values.push_back(
            {.name = reg.name,
             .text = fmt::format("{}  ({})", register_text(reg, stepper_.value(reg, warp, lane)),
                                 set)});
    }
    return values;
}

Value LaneValues::of_memory(std::string name, const TypePointer& type, Space space,
                            std::uint64_t address) const {
    Value value{.name = std::move(name), .type = type, .space = space, .address = address};
    if (space == Space::shared) {
        const auto shared = stepper_.shared_memory();
        if (address + type->bytes <= shared.size()) value.bytes = shared.data() + address;
    } else if (find_global(memory_, *stepper_.kernel().module, address, type->bytes)) {
        value.bytes = reinterpret_cast<const std::byte*>(address);
    }
    return value;
}

std::vector<Value> LaneValues::shared() const {
    std::vector<Value> values;
    const auto& variables = stepper_.kernel().shared_variables;
    for (std::size_t i = 0; i < variables.size(); ++i)
        values.push_back(of_memory(emulator::source_name(variables[i].name), shared_types_[i],
                                   Space::shared, variables[i].offset));
    return values;
}

std::vector<Value> LaneValues::arguments() const {
    const emulator::Kernel& kernel = stepper_.kernel();
    std::vector<Value> values;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const emulator::Parameter& parameter = kernel.parameters[i];
        const bool has_name = types_.parameters.size() == kernel.parameters.size() &&
                              !types_.parameters[i].name.empty();
        values.push_back({.name = has_name ? types_.parameters[i].name : parameter.name,
                          .type = argument_types_[i],
                          .bytes = stepper_.launch().arguments.data() + parameter.offset});
    }
    return values;
}

std::vector<Value> LaneValues::builtins(std::uint32_t warp, unsigned lane) const {
    const emulator::LaunchShape& shape = stepper_.launch().launch;
    return {builtin("threadIdx", dim3_type(), index_in(shape.block, warp * 32 + lane)),
            builtin("blockIdx", dim3_type(), index_in(shape.grid, stepper_.block())),
            builtin("blockDim", dim3_type(), shape.block),
            builtin("gridDim", dim3_type(), shape.grid),
            builtin("warpSize", unsigned_type(), std::uint32_t(32)),
            builtin("warp", unsigned_type(), warp),
            builtin("lane", unsigned_type(), std::uint32_t(lane))};
}

bool LaneValues::is_indexed(const Value& value) {
    return value.type && (value.type->kind == Type::Kind::array ||
                          (value.type->kind == Type::Kind::pointer && value.type->target &&
                           value.type->target->kind != Type::Kind::structure));
}

std::size_t LaneValues::parts(const Value& value) const {
    if (!value.type) return value.members.size();
    if (!value.bytes) return 0;
    if (value.type->kind == Type::Kind::structure) return value.type->members.size();
    if (value.type->kind == Type::Kind::array)
        return value.type->target && value.type->target->bytes ? value.type->count : 0;
    if (value.type->kind != Type::Kind::pointer || !value.type->target ||
        value.type->target->bytes == 0)
        return 0;
    const std::uint64_t address = integer_at(value.bytes, 8);
    const auto range = find_global(memory_, *stepper_.kernel().module, address, 1);
    return range ? (range->end - address) / value.type->target->bytes : 0;
}

Value LaneValues::part(const Value& value, std::size_t index) const {
    if (!value.type) return value.members[index];
    const Type& type = *value.type;
    if (type.kind == Type::Kind::pointer)
        return of_memory(fmt::format("[{}]", index), type.target, Space::global,
                         integer_at(value.bytes, 8) + index * type.target->bytes);
    const bool is_array = type.kind == Type::Kind::array;
    const std::size_t offset = is_array ? index * type.target->bytes : type.members[index].offset;
    Value part{.name = is_array ? fmt::format("[{}]", index) : type.members[index].name,
               .type = is_array ? type.target : type.members[index].type,
               .bytes = value.bytes + offset,
               .space = value.space,
               .address = value.address + offset};
    part.kept = value.kept;
    return part;
}

std::vector<Value> LaneValues::parts(const Value& value, std::size_t first,
                                     std::size_t count) const {
    std::vector<Value> list;
    const std::size_t all = parts(value);
    for (std::size_t i = std::min(first, all); i < all && list.size() < count; ++i)
        list.push_back(part(value, i));
    return list;
}

std::string LaneValues::preview(const Value& value) const {
    std::string words;
    const std::size_t all = parts(value);
    for (const Value& part : parts(value, 0, most_previewed)) {
        const auto number = number_at(part);
        const bool is_array = value.type->kind != Type::Kind::structure;
        words += fmt::format("{}{}{}", words.empty() ? "" : ", ", is_array ? "" : part.name + " = ",
                             number ? number_text(*part.type, *number) : "…");
    }
    return fmt::format("{{{}{}}}", words, all > most_previewed ? ", …" : "");
}

std::string LaneValues::text(const Value& value) const {
    if (!value.type) return value.text;
    if (!value.bytes) return "outside of all memory";
    const auto number = number_at(value);
    if (value.type->kind == Type::Kind::pointer && number) {
        const std::string address = number_text(*value.type, *number);
        return parts(value) ? fmt::format("{} {}", address, preview(value)) : address;
    }
    if (number) return number_text(*value.type, *number);
    return parts(value) ? preview(value) : fmt::format("{} bytes", value.type->bytes);
}

std::string LaneValues::type_name(const Value& value) {
    return value.type ? value.type->name : std::string();
}

Number LaneValues::number(const Value& value) {
    const auto number = number_at(value);
    if (number) return *number;
    throw LaunchError(fmt::format("{} is no number", value.name));
}

Value LaneValues::named(const std::string& name, std::uint32_t warp, unsigned lane) const {
    if (name.starts_with('%')) {
        for (const emulator::RegisterInfo& reg : stepper_.kernel().registers) {
            if (reg.name != name) continue;
            const std::uint64_t bits = stepper_.value(reg, warp, lane);
            const Number number = register_number(reg, bits);
            const auto* integer = std::get_if<std::int64_t>(&number);
            static const TypePointer whole_type =
                number_named("long long", Type::Kind::signed_integer, 8);
            static const TypePointer real_type = number_named("double", Type::Kind::floating, 8);
            Value value = integer ? builtin(name.c_str(), whole_type, *integer)
                                  : builtin(name.c_str(), real_type, std::get<double>(number));
            return value;
        }
        throw LaunchError(
            fmt::format("the kernel {} has no register {}", stepper_.kernel().name, name));
    }
    for (const auto& group : {shared(), arguments(), builtins(warp, lane)})
        if (Value value = part_named(group, name); !value.name.empty()) return value;
    throw LaunchError(fmt::format(
        "there is no {}: name a register such as %r4, an array in shared memory, an argument of "
        "the kernel, or threadIdx, blockIdx, blockDim, gridDim",
        name));
}

Value LaneValues::at(const ValuePath& path, std::uint32_t warp, unsigned lane) const {
    Value value = named(std::get<std::string>(path.at(0)), warp, lane);
    std::string name = value.name;
    for (std::size_t i = 1; i < path.size(); ++i) {
        const std::size_t all = parts(value);
        if (const auto* index = std::get_if<std::int64_t>(&path[i])) {
            if (!value.type || value.type->kind == Type::Kind::structure || all == 0)
                throw LaunchError(fmt::format("{} is no array", name));
            if (*index < 0 || std::uint64_t(*index) >= all)
                throw LaunchError(
                    fmt::format("{} has {} elements, and none {}", name, all, *index));
            value = part(value, std::size_t(*index));
            name += fmt::format("[{}]", *index);
            continue;
        }
        const std::string& member = std::get<std::string>(path[i]);
        Value found;
        if (value.type && value.type->kind == Type::Kind::structure)
            found = part_named(parts(value, 0, all), member);
        if (found.name.empty()) throw LaunchError(fmt::format("{} has no member {}", name, member));
        value = found;
        name += "." + member;
    }
    value.name = name;
    return value;
}

Number LaneValues::number(const LaneExpression& expression, std::uint32_t warp,
                          unsigned lane) const {
    return expression.value([&](const ValuePath& path) { return number(at(path, warp, lane)); });
}

Value LaneValues::evaluated(const std::string& text, std::uint32_t warp, unsigned lane) const {
    const LaneExpression expression(text);
    if (!expression.is_path())
        return {.name = text, .text = launches::to_string(number(expression, warp, lane))};
    const auto lookup = [&](const ValuePath& path) { return number(at(path, warp, lane)); };
    return at(expression.path(lookup), warp, lane);
}

}  // namespace warpscope::jobs
