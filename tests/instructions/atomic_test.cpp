#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "instructions/bfloat_reference.h"
#include "instructions/form.h"
#include "instructions/half_reference.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class AtomicInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(AtomicInstructions);

using Word = std::uint64_t;
constexpr unsigned blocks = 3, threads = 96;

/// An operation with the operands of every thread.
struct Atomic {
    std::string operation, type;
    Word initial;
    std::function<Word(Word old, Word a, Word b)> f;
    std::function<Word(unsigned thread)> a, b;
    bool ends_alike = true;  // the final value does not depend on the order
};

Word u32(Word x) {
    return x & 0xffffffff;
}
std::int32_t s32(Word x) {
    return std::int32_t(std::uint32_t(x));
}
std::int64_t s64(Word x) {
    return std::int64_t(x);
}
float f32(Word x) {
    return std::bit_cast<float>(std::uint32_t(x));
}
Word f32_bits(float x) {
    return std::bit_cast<std::uint32_t>(x);
}
double f64(Word x) {
    return std::bit_cast<double>(x);
}
Word f64_bits(double x) {
    return std::bit_cast<Word>(x);
}
Word scattered(unsigned thread) {
    return (thread + 1) * 0x9e3779b97f4a7c15;
}
Word own(unsigned thread) {
    return thread + 1;
}
Word one_bit(unsigned thread) {
    return Word(1) << (thread % 64);
}
Word none(unsigned) {
    return 0;
}

Word half_sum(Word a, Word b, Word) {
    return half_bits(half_value(a & 0xffff) + half_value(b & 0xffff));
}

const std::vector<Atomic> table{
    {"add", "u32", 0xfffffff0, [](Word o, Word a, Word) { return u32(o + a); }, own, none},
    {"add", "s32", 5, [](Word o, Word a, Word) { return u32(o + a); }, scattered, none},
    {"add", "u64", 0xfffffff0, [](Word o, Word a, Word) { return o + a; }, scattered, none},
    {"add", "f32", f32_bits(0.5f), [](Word o, Word a, Word) { return f32_bits(f32(o) + f32(a)); },
     [](unsigned t) { return f32_bits(float(t) - 40); }, none},
    {"add", "f64", f64_bits(0.5), [](Word o, Word a, Word) { return f64_bits(f64(o) + f64(a)); },
     [](unsigned t) { return f64_bits(t * 1e6); }, none},
    // Small integers: exact in any order.
    {"add.noftz", "f16", half_bits(3), half_sum,
     [](unsigned t) { return Word(half_bits(double(t) - 40)); }, none},
    {"add.noftz", "f16x2", half_bits(3) | Word(half_bits(-7)) << 16,
     [](Word o, Word a, Word) { return half_sum(o, a, 0) | half_sum(o >> 16, a >> 16, 0) << 16; },
     [](unsigned t) {
         return half_bits(double(t) - 40) | Word(half_bits(9 - double(t % 19))) << 16;
     },
     none},
    {"min", "u32", 0xffffffff, [](Word o, Word a, Word) { return std::min(o, u32(a)); }, scattered,
     none},
    {"max", "u32", 7, [](Word o, Word a, Word) { return std::max(o, u32(a)); }, scattered, none},
    {"min", "s32", 7, [](Word o, Word a, Word) { return u32(Word(std::min(s32(o), s32(a)))); },
     scattered, none},
    {"max", "s32", 0x80000000,
     [](Word o, Word a, Word) { return u32(Word(std::max(s32(o), s32(a)))); }, scattered, none},
    {"min", "u64", ~Word(0), [](Word o, Word a, Word) { return std::min(o, a); }, scattered, none},
    {"max", "u64", 0, [](Word o, Word a, Word) { return std::max(o, a); }, scattered, none},
    {"min", "s64", 0, [](Word o, Word a, Word) { return Word(std::min(s64(o), s64(a))); },
     scattered, none},
    {"max", "s64", Word(1) << 63,
     [](Word o, Word a, Word) { return Word(std::max(s64(o), s64(a))); }, scattered, none},
    {"and", "b32", 0xffffffff, [](Word o, Word a, Word) { return o & u32(a); },
     [](unsigned t) { return ~one_bit(t % 30); }, none},
    {"or", "b32", 0, [](Word o, Word a, Word) { return o | u32(a); },
     [](unsigned t) { return one_bit(t % 30); }, none},
    {"xor", "b32", 0x55555555, [](Word o, Word a, Word) { return o ^ u32(a); }, scattered, none},
    {"and", "b64", ~Word(0), [](Word o, Word a, Word) { return o & a; },
     [](unsigned t) { return ~one_bit(t); }, none},
    {"or", "b64", 0, [](Word o, Word a, Word) { return o | a; }, one_bit, none},
    {"xor", "b64", 1, [](Word o, Word a, Word) { return o ^ a; }, scattered, none},
    {"add.noftz", "bf16", 0x3f80,
     [](Word o, Word a, Word) { return Word(bfloat_bits(bfloat_value(o), bfloat_value(a))); },
     [](unsigned) { return Word(0x3f80); }, none},
    {"add.noftz", "bf16x2", 0x3f800000,
     [](Word o, Word a, Word) {
         return Word(bfloat_bits(bfloat_value(o & 0xffff), bfloat_value(a & 0xffff))) |
                Word(bfloat_bits(bfloat_value(o >> 16), bfloat_value(a >> 16))) << 16;
     },
     [](unsigned) { return Word(0x40003f80); }, none},
    {"inc", "u32", 10, [](Word o, Word a, Word) { return o >= a ? 0 : o + 1; },
     [](unsigned) { return Word(12); }, none},
    {"dec", "u32", 3, [](Word o, Word a, Word) { return o == 0 || o > a ? a : o - 1; },
     [](unsigned) { return Word(20); }, none},
    {"exch", "b32", 77, [](Word, Word a, Word) { return u32(a); }, own, none, false},
    {"exch", "b64", 77, [](Word, Word a, Word) { return a; }, scattered, none, false},
    {"cas", "b32", 5, [](Word o, Word a, Word b) { return o == u32(a) ? u32(b) : o; },
     [](unsigned t) { return Word(5 + t % 3); }, [](unsigned t) { return Word(5 + (t + 1) % 3); },
     false},
    {"cas", "b16", 5, [](Word o, Word a, Word b) { return o == a ? b : o; },
     [](unsigned t) { return Word(5 + t % 3); }, [](unsigned t) { return Word(5 + (t + 1) % 3); },
     false},
    {"cas", "b64", 0, [](Word o, Word a, Word b) { return o == a ? b : o; }, none, own, false},
};

std::string instruction_of(const Atomic& atomic, const std::string& space, bool returns) {
    const std::string address =
        space.empty() ? "%generic" : "%" + space.substr(space.rfind('.') + 1);
    return fmt::format("{}{}.{}.{} {}[{}], %a{};", returns ? "atom" : "red", space,
                       atomic.operation, atomic.type, returns ? "%d, " : "", address,
                       atomic.operation == "cas" ? ", %b" : "");
}

std::string module_of(const Atomic& atomic, const std::string& space, bool returns) {
    std::string text = std::string(ptx_file("atomic.ptx"));
    const auto put = [&](std::string_view from, const std::string& to) {
        for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
            text.replace(at, from.size(), to);
    };
    put("INSTRUCTION", instruction_of(atomic, space, returns));
    put("TYPE", fmt::format("b{}", width(atomic.type)));
    put("WRITE_BACK",
        space.ends_with(".global") ? "bra DONE;\nDONE:" : "st.global.u64 [%global], %l;");
    const char* target = atomic.type.starts_with("bf") ? "sm_90" : "sm_75";
    return fmt::format(".version 8.0\n.target {}\n.address_size 64\n", target) + text;
}

/// In any order of the threads, each one finds the value that the thread before it stored. So the
/// initial value and all stored values are, as a multiset, the values found and the final value.
void expect_chain(const Atomic& atomic, const Word* olds, Word last) {
    std::vector<Word> found(olds, olds + threads), made{atomic.initial};
    for (unsigned t = 0; t < threads; ++t)
        made.push_back(atomic.f(olds[t], atomic.a(t), atomic.b(t)));
    found.push_back(last);
    std::sort(found.begin(), found.end());
    std::sort(made.begin(), made.end());
    EXPECT_EQ(found, made);
}

void check_atomic(compute::Device& device, const Atomic& atomic, const std::string& space,
                  bool returns) {
    std::vector<std::array<Word, 2>> operands;
    for (unsigned i = 0; i < blocks * threads; ++i)
        operands.push_back({atomic.a(i % threads), atomic.b(i % threads)});
    const compute::Buffer<std::array<Word, 2>> in(device, operands);
    compute::Buffer<Word> out(device, blocks * threads);
    out.fill(0);
    const compute::Buffer<Word> cells(device, std::vector<Word>(blocks, atomic.initial));
    const auto kernel =
        device.kernel_from_ptx<compute::DevicePointer<std::array<Word, 2>>,
                               compute::DevicePointer<Word>, compute::DevicePointer<Word>>(
            module_of(atomic, space, returns), "run");
    device.launch(kernel, {{blocks, 1, 1}, {threads, 1, 1}}, {}, in.pointer(), out.pointer(),
                  cells.pointer());
    const std::vector<Word> olds = out.download(), finals = cells.download();
    Word expected = atomic.initial;
    for (unsigned t = 0; t < threads; ++t) expected = atomic.f(expected, atomic.a(t), atomic.b(t));
    for (unsigned b = 0; b < blocks; ++b) {
        if (returns) expect_chain(atomic, &olds[b * threads], finals[b]);
        if (atomic.ends_alike) {
            EXPECT_EQ(finals[b], expected);
        }
    }
}

void check_table(compute::Device& device, const std::string& space, bool returns) {
    std::string forms;
    for (const Atomic& atomic : table) forms += instruction_of(atomic, space, returns);
    if (record_forms(forms)) return;
    for (const Atomic& atomic : table) {
        if (atomic.type.starts_with("bf") && !executes(device, 90)) continue;
        if (!returns && (atomic.operation == "exch" || atomic.operation == "cas")) continue;
        SCOPED_TRACE(fmt::format("{}{}.{}.{}", returns ? "atom" : "red", space, atomic.operation,
                                 atomic.type));
        try {
            check_atomic(device, atomic, space, returns);
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST_P(AtomicInstructions, OnGlobalMemory) {
    check_table(device(), ".global", true);
}
TEST_P(AtomicInstructions, OnGlobalMemoryWithAcquireAndRelease) {
    check_table(device(), ".acq_rel.gpu.global", true);
}
TEST_P(AtomicInstructions, OnSharedMemory) {
    check_table(device(), ".shared", true);
}
TEST_P(AtomicInstructions, OnGenericAddresses) {
    check_table(device(), "", true);
}
TEST_P(AtomicInstructions, RedOnGlobalMemory) {
    check_table(device(), ".global", false);
}
TEST_P(AtomicInstructions, RedOnSharedMemory) {
    check_table(device(), ".shared", false);
}

}  // namespace
}  // namespace warpscope::tests
