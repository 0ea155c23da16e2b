#include "launches/lanes/lane_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>

#include "emulator/warp/memory.h"
#include "emulator/warp/warp.h"
#include "launches/arrays/array.h"
#include "launches/files/element_types.h"

namespace warpscope::launches {

using compiler::number_of;
using compiler::pointer_to;
using compiler::Type;
using emulator::Dim3;
using emulator::Space;

namespace {

constexpr std::size_t most_previewed = 4;

TypePointer unsigned_type() {
    return number_of(Type::Kind::unsigned_integer, 4, "unsigned int");
}

/// The type that a statement such as "ld.shared.v2.f32" gives to memory.
TypePointer type_in(std::string_view statement) {
    const std::string_view opcode = statement.substr(0, statement.find_first_of(" \t"));
    const std::string_view word = opcode.substr(std::min(opcode.rfind('.') + 1, opcode.size()));
    if (word == "f32") return number_of(Type::Kind::floating, 4, "float");
    if (word == "f64") return number_of(Type::Kind::floating, 8, "double");
    if (word == "s32") return number_of(Type::Kind::signed_integer, 4, "int");
    if (word.ends_with("64")) return number_of(Type::Kind::signed_integer, 8, "long long");
    if (word.ends_with("16")) return number_of(Type::Kind::signed_integer, 2, "short");
    if (word.ends_with("8")) return number_of(Type::Kind::unsigned_integer, 1, "unsigned char");
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

std::uint64_t integer_at(const std::byte* bytes, std::size_t count) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, std::min<std::size_t>(count, 8));
    return value;
}

/// The number that lies at a value; nullopt: no number does.
std::optional<Number> number_at(const LaneValue& value) {
    if (!value.bytes || !value.type) return {};
    const auto element = number_type(*value.type);
    if (element) {
        Array one(*element, {1});
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
    if (type.kind == Type::Kind::unsigned_integer)
        return fmt::format("{}", std::uint64_t(whole(number)));
    if (type.kind == Type::Kind::character && std::isprint(int(whole(number)) & 0xFF))
        return fmt::format("{} '{}'", whole(number), char(whole(number)));
    for (const auto& [name, value] : type.names)
        if (std::int64_t(value) == whole(number))
            return fmt::format("{} ({})", name, whole(number));
    if (type.kind == Type::Kind::boolean) return real(number) != 0 ? "true" : "false";
    if (type.kind == Type::Kind::pointer) return fmt::format("{:#x}", std::uint64_t(whole(number)));
    if (type.kind == Type::Kind::floating && type.bytes <= 4)
        return fmt::format("{}", float(real(number)));
    return to_string(number);
}

TypePointer dim3_type() {
    Type made{.kind = Type::Kind::structure, .name = "uint3", .canonical = "uint3", .bytes = 12};
    for (std::size_t i = 0; i < 3; ++i)
        made.members.push_back({std::string(1, "xyz"[i]), i * 4, unsigned_type()});
    return std::make_shared<const Type>(std::move(made));
}

/// A value whose bytes are those of `content`.
template <class T>
LaneValue kept_value(std::string name, const TypePointer& type, const T& content,
                     std::span<const std::byte> local = {}) {
    const auto bytes = std::as_bytes(std::span(&content, 1));
    LaneValue value{.name = std::move(name), .type = type, .local = local};
    value.kept = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    value.bytes = value.kept->data();
    return value;
}

LaneValue part_named(const std::vector<LaneValue>& values, const std::string& name) {
    const auto found = std::ranges::find(values, name, &LaneValue::name);
    return found == values.end() ? LaneValue{} : *found;
}

Number register_number(const emulator::RegisterInfo& reg, std::uint64_t bits) {
    if (reg.is_float)
        return reg.bits == 64 ? std::bit_cast<double>(bits)
                              : double(std::bit_cast<float>(std::uint32_t(bits)));
    if (reg.bits == 1 || reg.bits == 64) return std::int64_t(bits);
    return reg.bits == 16 ? std::int64_t(std::int16_t(bits)) : std::int64_t(std::int32_t(bits));
}

}  // namespace

KernelTypes read_types(const emulator::Kernel& kernel, std::string debug_ptx,
                       std::vector<compiler::Signature> signatures) {
    KernelTypes types;
    const std::string& ptx = debug_ptx.empty() ? kernel.module->text() : debug_ptx;
    try {
        types.scopes = compiler::read_scopes(ptx);
        // The places in it are those of what runs only if that is its text.
        if (ptx != kernel.module->text()) {
            types.scopes.inlined.clear();
            for (compiler::DebugVariable& variable : types.scopes.variables)
                variable.high = variable.low;
        }
        if (signatures.empty()) signatures = compiler::read_signatures(ptx);
    } catch (const std::exception&) {
        // The registers stay.
    }
    const auto known = std::ranges::find(signatures, kernel.name, &compiler::Signature::entry);
    if (known != signatures.end()) types.parameters = known->parameters;
    return types;
}

LaneValues::LaneValues(const emulator::Stepper& stepper, const emulator::Memory& memory,
                       KernelTypes types)
    : stepper_(stepper), memory_(memory), types_(std::move(types)), writes_(stepper.kernel()) {
    const emulator::Kernel& kernel = stepper.kernel();
    for (std::size_t i = 0; i < kernel.shared_variables.size(); ++i)
        shared_types_.push_back(type_of_array(kernel.shared_variables[i], i));
    for (const auto& variable : kernel.module->variables())
        globals_[variable.name] = reinterpret_cast<std::uint64_t>(variable.data);
    const bool has_types = types_.parameters.size() == kernel.parameters.size();
    const bool has_floats = std::ranges::any_of(kernel.lines, [](const auto& info) {
        return info.access != emulator::MemoryAccess::none && info.space != Space::shared &&
               info.text.find(".f32") != std::string::npos;
    });
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const std::size_t bytes = kernel.parameters[i].size;
        TypePointer type = has_types ? types_.parameters[i].type : nullptr;
        if (!type && bytes == 8)
            type = pointer_to(has_floats ? type_in("ld.f32") : unsigned_type());
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
    for (const compiler::DebugVariable& known : types_.scopes.variables) {
        if (known.entry != variable.name) continue;
        if (known.type->bytes == bytes) return known.type;
        if (known.type->kind == Type::Kind::array) element = known.type->target;
    }
    for (const emulator::InstructionInfo& info : stepper_.kernel().lines)
        if (!element && info.access != emulator::MemoryAccess::none && info.base == int(index))
            element = type_in(info.text);
    return array_of(element ? element : unsigned_type(), bytes);
}

std::optional<std::uint32_t> LaneValues::pc_of(std::uint32_t warp, unsigned lane) const {
    for (const emulator::SplitView& split : stepper_.warp(warp).splits)
        if (split.mask >> lane & 1) return split.pc;
    return {};
}

std::span<const LaneFrame> LaneValues::frames_of(std::uint32_t warp, unsigned lane) const {
    const auto pc = pc_of(warp, lane);
    return pc ? std::span(frames(*pc)) : std::span<const LaneFrame>();
}

LaneView LaneValues::view(std::uint32_t warp, unsigned lane, std::size_t frame) const {
    const auto frames = frames_of(warp, lane);
    return {warp, lane, frame < frames.size() ? &frames[frame] : nullptr};
}

const std::vector<LaneFrame>& LaneValues::frames(std::uint32_t pc) const {
    std::vector<LaneFrame>& frames = frames_[pc];
    if (frames.empty()) frames = call_stack(stepper_.kernel(), types_.scopes, pc);
    return frames;
}

std::vector<LaneValue> LaneValues::registers(const LaneView& at) const {
    const emulator::Kernel& kernel = stepper_.kernel();
    std::vector<LaneValue> values;
    for (const emulator::RecentRegister& one :
         emulator::recent_registers(stepper_, writes_, at.warp, at.lane, kernel.registers.size())) {
        const emulator::RegisterInfo& reg = kernel.registers[one.index];
        const std::string set = kernel.where(stepper_.history()[one.step].pc);
        values.push_back(
            {.name = reg.name,
             .text = fmt::format("{}  ({})",
                                 register_text(reg, stepper_.value(reg, at.warp, at.lane)), set)});
    }
    return values;
}

std::span<const std::byte> LaneValues::local_memory(const LaneView& at) const {
    return stepper_.local_memory(at.warp, at.lane);
}

/// The bytes from a generic address on; empty: it lies in no memory.
std::span<const std::byte> LaneValues::memory_at(std::uint64_t address,
                                                 std::span<const std::byte> local) const {
    const auto in = [&](std::span<const std::byte> memory, std::uint64_t window) {
        return memory.subspan(std::min<std::size_t>(memory.size(), address - window));
    };
    if (address - emulator::shared_window < emulator::window_size)
        return in(stepper_.shared_memory(), emulator::shared_window);
    if (address - emulator::local_window < emulator::window_size)
        return in(local, emulator::local_window);
    const auto range = find_global(memory_, *stepper_.kernel().module, address, 1);
    if (!range) return {};
    return {reinterpret_cast<const std::byte*>(address), std::size_t(range->end - address)};
}

LaneValue LaneValues::of_memory(std::string name, const TypePointer& type, std::uint64_t address,
                                std::span<const std::byte> local) const {
    const auto memory = memory_at(address, local);
    return {.name = std::move(name),
            .type = type,
            .bytes = memory.size() >= type->bytes ? memory.data() : nullptr,
            .address = address,
            .local = local};
}

LaneValue LaneValues::of_arguments(std::string name, const TypePointer& type, std::uint64_t offset,
                                   std::span<const std::byte> local) const {
    const auto& all = stepper_.launch().arguments;
    const bool is_in = offset <= all.size() && type->bytes <= all.size() - offset;
    return {.name = std::move(name),
            .type = type,
            .bytes = is_in ? all.data() + offset : nullptr,
            .local = local};
}

bool LaneValues::can_be_watched(const LaneValue& value) {
    return value.bytes && value.address &&
           value.address - emulator::local_window >= emulator::window_size;
}

/// A register of the function: "%r4" is called "%r4 in _Z4sqrtf" in a function.
const emulator::RegisterInfo* LaneValues::register_of(const std::string& name,
                                                      const LaneView& at) const {
    const std::uint32_t instance = at.frame ? at.frame->instance : 0;
    for (const emulator::RegisterInfo& reg : stepper_.kernel().registers)
        if (reg.instance == instance && reg.name.starts_with(name) &&
            (reg.name.size() == name.size() || reg.name[name.size()] == ' '))
            return &reg;
    return nullptr;
}

/// A reference stands for what it refers to.
LaneValue LaneValues::referred(const LaneValue& value) const {
    const bool is_reference = value.type && value.type->kind == Type::Kind::pointer &&
                              value.type->canonical.ends_with('&') && value.type->target;
    if (!is_reference || !value.bytes) return value;
    return of_memory(value.name, value.type->target, integer_at(value.bytes, 8), value.local);
}

/// nullopt: it lies where all threads see it.
std::optional<LaneValue> LaneValues::local(const compiler::DebugVariable& variable,
                                           const LaneView& at) const {
    const auto line = std::uint64_t(at.frame->ptx_line);
    const auto place = std::ranges::find_if(variable.places, [&](const compiler::DebugPlace& p) {
        return p.begin <= line && line < p.end;
    });
    const LaneValue none{.name = variable.name, .text = "has no value at this line"};
    if (place == variable.places.end()) return none;
    const emulator::Kernel& kernel = stepper_.kernel();
    const bool is_register = place->name.starts_with('%');
    if ((is_register || place->name.empty()) && variable.type->bytes > 8) return none;
    if (place->name.empty()) return kept_value(variable.name, variable.type, place->offset);
    if (is_register) {
        const auto* const reg = register_of(place->name, at);
        if (!reg) return none;
        return kept_value(variable.name, variable.type, stepper_.value(*reg, at.warp, at.lane),
                          local_memory(at));
    }
    const auto parameter =
        std::ranges::find(kernel.parameters, place->name, &emulator::Parameter::name);
    if (parameter != kernel.parameters.end())
        return of_arguments(variable.name, variable.type, parameter->offset + place->offset,
                            local_memory(at));
    const auto* const frame =
        place->name.starts_with("__local_depot") ? register_of("%SPL", at) : nullptr;
    if (!frame) return {};
    return of_memory(
        variable.name, variable.type,
        emulator::local_window + place->offset + stepper_.value(*frame, at.warp, at.lane),
        local_memory(at));
}

std::vector<LaneValue> LaneValues::locals(const LaneView& at) const {
    std::vector<LaneValue> values;
    for (const compiler::DebugVariable& variable : types_.scopes.variables) {
        if (!at.frame || variable.inlined != at.frame->inlined ||
            variable.line > at.frame->place.line ||
            !variable.is_known_at(std::uint64_t(at.frame->ptx_line)) ||
            !part_named(values, variable.name).name.empty())  // one of an inner scope hides it
            continue;
        if (const auto value = local(variable, at)) values.push_back(referred(*value));
    }
    return values;
}

std::vector<LaneValue> LaneValues::globals(const LaneView& at) const {
    std::vector<LaneValue> values;
    for (const compiler::DebugVariable& variable : types_.scopes.variables) {
        const auto memory = globals_.find(variable.entry);
        if (variable.high == 0 && memory != globals_.end())
            values.push_back(
                of_memory(variable.name, variable.type, memory->second, local_memory(at)));
    }
    return values;
}

std::vector<LaneValue> LaneValues::shared(const LaneView& at) const {
    std::vector<LaneValue> values;
    const auto& variables = stepper_.kernel().shared_variables;
    for (std::size_t i = 0; i < variables.size(); ++i)
        values.push_back(of_memory(emulator::source_name(variables[i].name), shared_types_[i],
                                   emulator::shared_window + variables[i].offset,
                                   local_memory(at)));
    return values;
}

std::vector<LaneValue> LaneValues::arguments(const LaneView& at) const {
    const emulator::Kernel& kernel = stepper_.kernel();
    std::vector<LaneValue> values;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const emulator::Parameter& parameter = kernel.parameters[i];
        const bool has_name = types_.parameters.size() == kernel.parameters.size() &&
                              !types_.parameters[i].name.empty();
        values.push_back(of_arguments(has_name ? types_.parameters[i].name : parameter.name,
                                      argument_types_[i], parameter.offset, local_memory(at)));
    }
    return values;
}

std::vector<LaneValue> LaneValues::builtins(const LaneView& at) const {
    const emulator::LaunchShape& shape = stepper_.launch().launch;
    return {kept_value("threadIdx", dim3_type(), index_in(shape.block, at.warp * 32 + at.lane)),
            kept_value("blockIdx", dim3_type(), index_in(shape.grid, stepper_.block())),
            kept_value("blockDim", dim3_type(), shape.block),
            kept_value("gridDim", dim3_type(), shape.grid),
            kept_value("warpSize", unsigned_type(), std::uint32_t(32)),
            kept_value("warp", unsigned_type(), at.warp),
            kept_value("lane", unsigned_type(), std::uint32_t(at.lane))};
}

bool LaneValues::is_indexed(const LaneValue& value) {
    return value.type && (value.type->kind == Type::Kind::array ||
                          (value.type->kind == Type::Kind::pointer && value.type->target &&
                           value.type->target->kind != Type::Kind::structure));
}

std::size_t LaneValues::parts(const LaneValue& value) const {
    if (!value.type) return value.members.size();
    if (!value.bytes) return 0;
    if (value.type->kind == Type::Kind::structure) return value.type->members.size();
    if (value.type->kind == Type::Kind::array)
        return value.type->target && value.type->target->bytes ? value.type->count : 0;
    if (value.type->kind != Type::Kind::pointer || !value.type->target ||
        value.type->target->bytes == 0)
        return 0;
    return memory_at(integer_at(value.bytes, 8), value.local).size() / value.type->target->bytes;
}

LaneValue LaneValues::part(const LaneValue& value, std::size_t index) const {
    if (!value.type) return value.members[index];
    const Type& type = *value.type;
    if (type.kind == Type::Kind::pointer)
        return of_memory(fmt::format("[{}]", index), type.target,
                         integer_at(value.bytes, 8) + index * type.target->bytes, value.local);
    const bool is_array = type.kind == Type::Kind::array;
    const std::size_t offset = is_array ? index * type.target->bytes : type.members[index].offset;
    LaneValue part{.name = is_array ? fmt::format("[{}]", index) : type.members[index].name,
                   .type = is_array ? type.target : type.members[index].type,
                   .bytes = value.bytes + offset,
                   .address = value.address ? value.address + offset : 0,
                   .local = value.local};
    part.kept = value.kept;
    return part;
}

std::vector<LaneValue> LaneValues::parts(const LaneValue& value, std::size_t first,
                                         std::size_t count) const {
    std::vector<LaneValue> list;
    const std::size_t all = parts(value);
    for (std::size_t i = std::min(first, all); i < all && list.size() < count; ++i)
        list.push_back(part(value, i));
    return list;
}

std::string LaneValues::preview(const LaneValue& value) const {
    std::string words;
    const std::size_t all = parts(value);
    for (const LaneValue& part : parts(value, 0, most_previewed)) {
        const auto number = number_at(part);
        const bool is_array = value.type->kind != Type::Kind::structure;
        words += fmt::format("{}{}{}", words.empty() ? "" : ", ", is_array ? "" : part.name + " = ",
                             number ? number_text(*part.type, *number) : "…");
    }
    return fmt::format("{{{}{}}}", words, all > most_previewed ? ", …" : "");
}

std::string LaneValues::text(const LaneValue& value) const {
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

std::string LaneValues::type_name(const LaneValue& value) {
    return value.type ? value.type->name : std::string();
}

Number LaneValues::number(const LaneValue& value) {
    const auto number = number_at(value);
    if (number) return *number;
    throw LaunchError(fmt::format("{} is no number", value.name));
}

LaneValue LaneValues::named(const std::string& name, const LaneView& at) const {
    if (name.starts_with('%')) {
        const auto* const reg = register_of(name, at);
        if (!reg)
            throw LaunchError(
                fmt::format("the kernel {} has no register {}", stepper_.kernel().name, name));
        const Number number = register_number(*reg, stepper_.value(*reg, at.warp, at.lane));
        if (const auto* integer = std::get_if<std::int64_t>(&number))
            return kept_value(name, number_of(Type::Kind::signed_integer, 8, "long long"),
                              *integer);
        return kept_value(name, number_of(Type::Kind::floating, 8, "double"),
                          std::get<double>(number));
    }
    for (const auto group : {&LaneValues::locals, &LaneValues::shared, &LaneValues::arguments,
                             &LaneValues::builtins, &LaneValues::globals})
        if (LaneValue value = part_named((this->*group)(at), name); !value.name.empty())
            return value;
    throw LaunchError(fmt::format(
        "there is no {}: name a variable, a register such as %r4, an array in shared memory, an "
        "argument of the kernel, or threadIdx, blockIdx, blockDim, gridDim",
        name));
}

LaneValue LaneValues::at(const ValuePath& path, const LaneView& at) const {
    LaneValue value = named(std::get<std::string>(path.at(0)), at);
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
        LaneValue found;
        if (value.type && value.type->kind == Type::Kind::structure)
            found = part_named(parts(value, 0, all), member);
        if (found.name.empty()) throw LaunchError(fmt::format("{} has no member {}", name, member));
        value = found;
        name += "." + member;
    }
    value.name = name;
    return value;
}

Number LaneValues::number(const LaneExpression& expression, const LaneView& at) const {
    return expression.value([&](const ValuePath& path) { return number(this->at(path, at)); });
}

bool LaneValues::holds(const LaneExpression& condition, std::uint32_t warp, unsigned lane) const {
    return real(number(condition, view(warp, lane))) != 0;
}

void LaneValues::check_names(const LaneExpression& expression, const LaneFrame& frame) const {
    for (const std::string& name : expression.names()) named(name, {.frame = &frame});
}

LaneValue LaneValues::evaluated(const std::string& text, const LaneView& at) const {
    const LaneExpression expression(text);
    if (!expression.is_path()) return {.name = text, .text = to_string(number(expression, at))};
    const auto lookup = [&](const ValuePath& path) { return number(this->at(path, at)); };
    return this->at(expression.path(lookup), at);
}

}  // namespace warpscope::launches
