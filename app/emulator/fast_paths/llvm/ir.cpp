#include "emulator/fast_paths/llvm/ir.h"

#include <fmt/format.h>

#include <utility>

namespace warpscope::emulator {

namespace {

// LLVMTypeKind of llvm-c/Core.h.
enum Kind : int {
    kind_float = 2,
    kind_double = 3,
    kind_integer = 8,
    kind_pointer = 12,
    kind_vector = 13
};

}  // namespace

Ir::Ir(std::shared_ptr<const Llvm> llvm, const char* module_name, Attributes attributes)
    : llvm_(std::move(llvm)),
      attributes_(std::move(attributes)),
      context_(llvm_->ContextCreate()),
      module_(llvm_->ModuleCreateWithNameInContext(module_name, context_)),
      builder_(llvm_->CreateBuilderInContext(context_)),
      f32_(llvm_->FloatTypeInContext(context_)),
      f64_(llvm_->DoubleTypeInContext(context_)),
      pointer_(llvm_->PointerTypeInContext(context_, 0)),
      profile_kind_(llvm_->GetMDKindIDInContext(context_, "prof", 4)),
      likely_weights_(branch_weights(2000, 1)) {}

Ir::~Ir() {
    llvm_->DisposeBuilder(builder_);
    if (module_) llvm_->DisposeModule(module_);
    llvm_->ContextDispose(context_);
}

LlvmType Ir::of_lanes(LlvmType scalar, unsigned lanes) const {
    return lanes ? llvm_->VectorType(scalar, lanes) : scalar;
}

LlvmType Ir::integer(unsigned bits, unsigned lanes) const {
    return of_lanes(llvm_->IntTypeInContext(context_, bits), lanes);
}

unsigned Ir::lanes_of(LlvmType type) const {
    return llvm_->GetTypeKind(type) == kind_vector ? llvm_->GetVectorSize(type) : 0;
}

std::string Ir::suffix(LlvmType type) const {
    const unsigned lanes = lanes_of(type);
    const LlvmType scalar = lanes ? llvm_->GetElementType(type) : type;
    const std::string vector = lanes ? fmt::format("v{}", lanes) : "";
    switch (llvm_->GetTypeKind(scalar)) {
        case kind_float:
            return vector + "f32";
        case kind_double:
            return vector + "f64";
        case kind_pointer:
            return vector + "p0";
        default:
            return fmt::format("{}i{}", vector, llvm_->GetIntTypeWidth(scalar));
    }
}

LlvmValue Ir::number(LlvmType like, std::uint64_t value) const {
    const unsigned lanes = lanes_of(like);
    const LlvmType scalar = lanes ? llvm_->GetElementType(like) : like;
    std::vector<LlvmValue> all(lanes ? lanes : 1, llvm_->ConstInt(scalar, value, 0));
    return lanes ? llvm_->ConstVector(all.data(), lanes) : all[0];
}

LlvmValue Ir::real(LlvmType like, double value) const {
    const unsigned lanes = lanes_of(like);
    const LlvmType scalar = lanes ? llvm_->GetElementType(like) : like;
    std::vector<LlvmValue> all(lanes ? lanes : 1, llvm_->ConstReal(scalar, value));
    return lanes ? llvm_->ConstVector(all.data(), lanes) : all[0];
}

LlvmValue Ir::integer_of(unsigned bits, std::uint64_t value) const {
    return llvm_->ConstInt(integer(bits), value, 0);
}

LlvmValue Ir::address(const void* host) const {
    return cast(inttoptr, integer_of(64, reinterpret_cast<std::uint64_t>(host)), pointer_);
}

LlvmValue Ir::lanes_of(std::span<const std::uint64_t> values, unsigned bits) const {
    std::vector<LlvmValue> all;
    for (const std::uint64_t value : values) all.push_back(integer_of(bits, value));
    return llvm_->ConstVector(all.data(), unsigned(all.size()));
}

LlvmValue Ir::in_memory(LlvmValue constants) {
    constexpr int internal_linkage = 8;
    const LlvmType type = llvm_->TypeOf(constants);
    LlvmValue& global = globals_[constants];
    if (!global) {
        global = llvm_->AddGlobal(module_, type, "constants");
        llvm_->SetInitializer(global, constants);
        llvm_->SetLinkage(global, internal_linkage);
    }
    return load(type, global);
}

LlvmValue Ir::op(Binary operation, LlvmValue a, LlvmValue b) const {
    return llvm_->BuildBinOp(builder_, operation, a, b, "");
}
LlvmValue Ir::op(Binary operation, LlvmValue a, std::uint64_t b) const {
    return op(operation, a, number(llvm_->TypeOf(a), b));
}
LlvmValue Ir::cast(Cast conversion, LlvmValue a, LlvmType to) const {
    return llvm_->TypeOf(a) == to ? a : llvm_->BuildCast(builder_, conversion, a, to, "");
}
LlvmValue Ir::compare(Order order, LlvmValue a, LlvmValue b) const {
    return llvm_->BuildICmp(builder_, order, a, b, "");
}
LlvmValue Ir::compare_with(Order order, LlvmValue a, std::uint64_t b) const {
    return compare(order, a, number(llvm_->TypeOf(a), b));
}
LlvmValue Ir::compare(FloatOrder order, LlvmValue a, LlvmValue b) const {
    return llvm_->BuildFCmp(builder_, order, a, b, "");
}
LlvmValue Ir::compare_with(FloatOrder order, LlvmValue a, double b) const {
    return compare(order, a, real(llvm_->TypeOf(a), b));
}
LlvmValue Ir::select(LlvmValue condition, LlvmValue a, LlvmValue b) const {
    return llvm_->BuildSelect(builder_, condition, a, b, "");
}
LlvmValue Ir::not_(LlvmValue a) const {
    return op(xor_, a, llvm_->ConstAllOnes(llvm_->TypeOf(a)));
}

LlvmValue Ir::all(LlvmValue lanes) const {
    const unsigned count = lanes_of(llvm_->TypeOf(lanes));
    if (count == 0) return lanes;
    const LlvmType bits = integer(count);
    return compare(eq, cast(bitcast, lanes, bits), llvm_->ConstAllOnes(bits));
}

LlvmValue Ir::intrinsic(std::string_view name, LlvmType result,
                        std::initializer_list<LlvmValue> arguments,
                        std::initializer_list<LlvmType> overloads) const {
    std::string full = fmt::format("llvm.{}", name);
    for (const LlvmType type : overloads) full += "." + suffix(type);
    if (overloads.size() == 0) full += "." + suffix(result);
    std::vector<LlvmType> types;
    for (const LlvmValue a : arguments) types.push_back(llvm_->TypeOf(a));
    const LlvmType type = llvm_->FunctionType(result, types.data(), unsigned(types.size()), 0);
    LlvmValue function = llvm_->GetNamedFunction(module_, full.c_str());
    if (!function) function = llvm_->AddFunction(module_, full.c_str(), type);
    std::vector<LlvmValue> values(arguments);
    return llvm_->BuildCall2(builder_, type, function, values.data(), unsigned(values.size()), "");
}

LlvmValue Ir::call(LlvmValue function, LlvmType result,
                   std::initializer_list<LlvmValue> arguments) const {
    std::vector<LlvmType> types;
    for (const LlvmValue a : arguments) types.push_back(llvm_->TypeOf(a));
    const LlvmType type = llvm_->FunctionType(result, types.data(), unsigned(types.size()), 0);
    std::vector<LlvmValue> values(arguments);
    return llvm_->BuildCall2(builder_, type, function, values.data(), unsigned(values.size()), "");
}

LlvmValue Ir::call_rarely(std::string_view name, LlvmValue argument,
                          const std::function<LlvmValue(LlvmValue)>& write) {
    const LlvmType type = llvm_->TypeOf(argument);
    const std::string full = fmt::format("{}.{}", name, suffix(type));
    const LlvmValue caller = function_;
    const LlvmBlock calling = here();
    LlvmValue called = llvm_->GetNamedFunction(module_, full.c_str());
    if (!called) {
        called = function(full.c_str(), type, {type});
        leave_registers(called);
        go_on_in(block());
        give(write(llvm_->GetParam(called, 0)));
        function_ = caller;
        go_on_in(calling);
    }
    return call(called, type, {argument});
}

// Makes a function leave all registers as they are. Only x86 knows how. LLVM would end it with
// vzeroupper if it returns a scalar, which destroys the vectors of the code around the call.
void Ir::leave_registers(LlvmValue function) const {
#if defined(__x86_64__)
    std::string features = "-vzeroupper";
    for (const auto& [attribute, value] : attributes_)
        if (attribute == "target-features" && !value.empty()) features = value + "," + features;
    set_attribute(function, "target-features", features);
    set_attribute(function, "no_caller_saved_registers", "");
#else
    (void)function;
#endif
}

LlvmValue Ir::splat(LlvmValue scalar, unsigned lanes) const {
    const LlvmType type = of_lanes(llvm_->TypeOf(scalar), lanes);
    const LlvmValue poison = llvm_->GetPoison(type);
    return llvm_->BuildShuffleVector(builder_, with_lane(poison, 0, scalar), poison,
                                     zero(integer(32, lanes)), "");
}

LlvmValue Ir::lane(LlvmValue vector, unsigned index) const {
    return llvm_->BuildExtractElement(builder_, vector, integer_of(32, index), "");
}

LlvmValue Ir::with_lane(LlvmValue vector, unsigned index, LlvmValue scalar) const {
    return llvm_->BuildInsertElement(builder_, vector, scalar, integer_of(32, index), "");
}

LlvmValue Ir::shuffle(LlvmValue a, LlvmValue b, std::span<const int> lanes) const {
    std::vector<LlvmValue> mask;
    for (const int lane : lanes) mask.push_back(integer_of(32, unsigned(lane)));
    return llvm_->BuildShuffleVector(builder_, a, b,
                                     llvm_->ConstVector(mask.data(), unsigned(mask.size())), "");
}

LlvmValue Ir::joined(std::vector<LlvmValue> parts) const {
    while (parts.size() > 1) {
        const unsigned lanes = lanes_of(llvm_->TypeOf(parts[0]));
        std::vector<int> all;
        for (unsigned l = 0; l < 2 * lanes; ++l) all.push_back(int(l));
        std::vector<LlvmValue> pairs;
        for (std::size_t k = 0; k < parts.size(); k += 2)
            pairs.push_back(shuffle(parts[k], parts[k + 1], all));
        parts = std::move(pairs);
    }
    return parts[0];
}

LlvmValue Ir::part(LlvmValue vector, unsigned first, unsigned count) const {
    if (count == lanes_of(llvm_->TypeOf(vector))) return vector;
    std::vector<int> lanes;
    for (unsigned l = 0; l < count; ++l) lanes.push_back(int(first + l));
    return shuffle(vector, llvm_->GetPoison(llvm_->TypeOf(vector)), lanes);
}

LlvmValue Ir::load(LlvmType type, LlvmValue from, unsigned align) const {
    const LlvmValue value = llvm_->BuildLoad2(builder_, type, from, "");
    if (align) llvm_->SetAlignment(value, align);
    return value;
}

LlvmValue Ir::load_acquired(LlvmType type, LlvmValue from) const {
    constexpr int acquire = 4;  // LLVMAtomicOrderingAcquire
    const LlvmValue value = load(type, from, sizeof(void*));
    llvm_->SetOrdering(value, acquire);
    return value;
}

void Ir::store(LlvmValue value, LlvmValue to, unsigned align) const {
    const LlvmValue done = llvm_->BuildStore(builder_, value, to);
    if (align) llvm_->SetAlignment(done, align);
}

LlvmValue Ir::at(LlvmValue pointer, std::uint64_t bytes) const {
    return at(pointer, integer_of(64, bytes));
}

LlvmValue Ir::at(LlvmValue pointer, LlvmValue bytes) const {
    return llvm_->BuildGEP2(builder_, integer(8), pointer, &bytes, 1, "");
}

LlvmValue Ir::function(const char* name, LlvmType result,
                       std::initializer_list<LlvmType> parameters) {
    std::vector<LlvmType> types(parameters);
    function_ = llvm_->AddFunction(
        module_, name, llvm_->FunctionType(result, types.data(), unsigned(types.size()), 0));
    for (const auto& [attribute, value] : attributes_) set_attribute(function_, attribute, value);
    return function_;
}

void Ir::set_attribute(LlvmValue function, std::string_view name, std::string_view value) const {
    constexpr unsigned of_function = ~0u;
    llvm_->AddAttributeAtIndex(
        function, of_function,
        llvm_->CreateStringAttribute(context_, name.data(), unsigned(name.size()), value.data(),
                                     unsigned(value.size())));
}

LlvmBlock Ir::block(const char* name) const {
    return llvm_->AppendBasicBlockInContext(context_, function_, name);
}

LlvmValue Ir::branch_weights(unsigned yes, unsigned no) const {
    constexpr std::string_view name = "branch_weights";
    LlvmValue parts[] = {llvm_->MDStringInContext(context_, name.data(), unsigned(name.size())),
                         integer_of(32, yes), integer_of(32, no)};
    return llvm_->MDNodeInContext(context_, parts, 3);
}

void Ir::likely(LlvmValue condition, LlvmBlock yes, LlvmBlock no) const {
    llvm_->SetMetadata(llvm_->BuildCondBr(builder_, condition, yes, no), profile_kind_,
                       likely_weights_);
}

LlvmValue Ir::phi(LlvmType type,
                  std::initializer_list<std::pair<LlvmValue, LlvmBlock>> values) const {
    const LlvmValue phi = llvm_->BuildPhi(builder_, type, "");
    for (auto [value, block] : values) llvm_->AddIncoming(phi, &value, &block, 1);
    return phi;
}

}  // namespace warpscope::emulator
