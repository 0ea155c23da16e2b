#include "compiler/debug_scopes.h"
#include "compiler/dwarf.h"
#include "compiler/signature.h"
#include "fuzz.h"

// The debug information of a PTX text. Every type ends, and members lie inside their structure.
namespace {

using namespace warpscope;

void check(const compiler::Type& type, int depth) {
    tests::require(depth < 1000, "a type ends");
    for (const compiler::Member& member : type.members) {
        tests::require(member.offset + member.type->bytes <= type.bytes,
                       "a member lies inside its structure");
        // A structure may be large; the first members say enough.
        if (&member - type.members.data() < 2) check(*member.type, depth + 1);
    }
    if (type.kind == compiler::Type::Kind::array)
        tests::require(type.bytes == type.count * type.target->bytes,
                       "the elements of an array fill it");
    if (type.target) check(*type.target, depth + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        for (const compiler::DebugVariable& one :
             compiler::read_scopes(tests::text_of(data, size)).variables)
            check(*one.type, 0);
        for (const compiler::Signature& one :
             compiler::read_signatures(tests::text_of(data, size))) {
            for (const compiler::KernelParameter& parameter : one.parameters)
                check(*parameter.type, 0);
        }
    } catch (const compiler::DebugInfoError& error) {
        tests::require(std::string_view(error.what()).find('\n') == std::string_view::npos,
                       "an error is one line");
    }
    return 0;
}
