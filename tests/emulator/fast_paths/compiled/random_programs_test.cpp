#include <fmt/format.h>
#include <hwy/targets.h>

#include <random>

#include "emulator/fast_paths/compiled/both_forms.h"
#include "support/long_tests.h"

// Random PTX programs must have equal results, counts and errors, interpreted and compiled.
namespace warpscope::emulator {
namespace {

/// Writes a program of loops, branches that separate lanes, barriers, accesses to shared memory and
/// arithmetic. Registers: %r2-9 and %f0-7 hold values, %rd2-5 wide values, %p0-3 predicates.
class Writer {
  public:
    explicit Writer(std::uint64_t seed) : random_(seed) {}

    std::string program() {
        for (unsigned k = 2; k < 10; ++k)
            line("mad.lo.u32 %r{}, %r1, {}, {};", k, random_() | 1, std::uint32_t(random_()));
        for (unsigned k = 0; k < 8; ++k)
            if (k % 2)
                line("mov.f32 %f{}, 0f{:08X};", k, special());
            else
                line("cvt.rn.f32.s32 %f{}, %r{};", k, 2 + k);
        for (unsigned k = 2; k < 6; ++k) line("mul.wide.s32 %rd{}, %r{}, %r{};", k, k, k + 2);
        for (unsigned k = 0; k < 4; ++k) line("setp.lt.s32 %p{}, %r{}, %r{};", k, k + 2, k + 4);
        // Addresses of the thread's own word, and of another one.
        line("shl.b32 %r20, %r1, 2; mov.u32 %r21, tile; add.u32 %r20, %r20, %r21;");
        line("xor.b32 %r22, %r1, {}; shl.b32 %r22, %r22, 2; add.u32 %r22, %r22, %r21;",
             one_of({1, 16, 33, 96}));
        block(24, 2, true);
        line("mov.u32 %r10, 0;");
        for (unsigned k = 2; k < 10; ++k) mix(fmt::format("%r{}", k));
        for (unsigned k = 0; k < 8; ++k) {
            // Payloads of NaN may differ: PTX does not define them.
            line("setp.nan.f32 %p9, %f{0}, %f{0}; mov.b32 %r11, %f{0};", k);
            line("selp.b32 %r11, 2147483647, %r11, %p9;");
            mix("%r11");
        }
        for (unsigned k = 2; k < 6; ++k) {
            line("cvt.u32.u64 %r11, %rd{0}; shr.u64 %rd10, %rd{0}, 32; cvt.u32.u64 %r12, %rd10;",
                 k);
            mix("%r11");
            mix("%r12");
        }
        line("st.global.u32 [%rd1], %r10;");
        return text_;
    }

  private:
    template <typename... A>
    void line(fmt::format_string<A...> format, A&&... arguments) {
        text_ += fmt::format(format, std::forward<A>(arguments)...) + "\n";
    }
    void mix(const std::string& value) {
        line("mul.lo.u32 %r10, %r10, 16777619; xor.b32 %r10, %r10, {};", value);
    }
    template <typename T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[random_() % values.size()];
    }
    std::uint32_t special() {
        return one_of({0x00000000u, 0x80000000u, 0x7F800000u, 0xFF800000u, 0x7FC00000u, 0x00000001u,
                       0x807FFFFFu, 0x00800000u, 0x7F7FFFFFu, 0x3F800000u, 0xC0490FDBu, 0x4F000000u,
                       0xCF000000u, 0x4F800000u, 0x33000000u, std::uint32_t(random_())});
    }
    std::string r() { return fmt::format("%r{}", 2 + random_() % 8); }
    std::string f() { return fmt::format("%f{}", random_() % 8); }
    std::string wide() { return fmt::format("%rd{}", 2 + random_() % 4); }
    std::string p() { return fmt::format("%p{}", random_() % 4); }
    std::string integer() {
        return random_() % 4 ? r() : std::to_string(std::int32_t(random_()) >> random_() % 31);
    }
    std::string real() { return random_() % 4 ? f() : fmt::format("0f{:08X}", special()); }
    std::string guard() {
        return random_() % 5 ? "" : fmt::format("@{}{} ", random_() % 2 ? "!" : "", p());
    }

    void block(unsigned statements, unsigned depth, bool together) {
        for (unsigned k = 0; k < statements; ++k) {
            const unsigned kind = unsigned(random_() % 32);
            if (kind == 0 && depth > 0)
                loop(depth, together);
            else if (kind <= 3 && depth > 0)
                branch(depth);
            else if (kind == 4 && together)
                line("bar.sync 0;");
            else if (kind <= 7)
                access();
            else if (kind == 8 && together)
                line("shfl.sync.{}.b32 {}|{}, {}, {}, {}, -1;",
                     one_of<std::string>({"up", "down", "bfly", "idx"}), r(), p(), r(),
                     random_() % 32, one_of({31, 0x181F, 0x1C03, 0}));
            else if (kind == 9)
                rare();
            else
                arithmetic();
        }
    }

    // Each lane, or all of them, repeats the body a few times.
    void loop(unsigned depth, bool together) {
        const unsigned id = labels_++;
        const bool all = together && random_() % 2;
        line("mov.u32 %r{}, {};", 30 + depth, 2 + random_() % 3);
        if (!all) line("and.b32 %r{0}, {1}, 3; add.u32 %r{0}, %r{0}, 1;", 30 + depth, r());
        line("LOOP{}:", id);
        block(5, depth - 1, all);
        line("sub.u32 %r{0}, %r{0}, 1; setp.ne.u32 %p{1}, %r{0}, 0; @%p{1} bra LOOP{2};",
             30 + depth, 4 + depth, id);
    }

    void branch(unsigned depth) {
        const unsigned id = labels_++;
        const bool has_else = random_() % 2;
        line("@{}{} bra ELSE{};", random_() % 2 ? "!" : "", p(), id);
        block(1 + unsigned(random_() % 4), depth - 1, false);
        if (has_else) line("bra END{};", id);
        line("ELSE{}:", id);
        if (has_else) block(1 + unsigned(random_() % 4), depth - 1, false);
        line("END{}:", id);
    }

    void access() {
        const std::string own = "%r20", other = "%r22";
        if (random_() % 2)
            line("{}st.shared.u32 [{}], {};", guard(), random_() % 3 ? own : other, r());
        else
            line("{}ld.shared.u32 {}, [{}];", guard(), r(), random_() % 3 ? own : other);
        if (random_() % 4 == 0)
            line("ld.shared.v2.u32 {{{}, %r12}}, [tile+{}];", r(), 8 * (random_() % 9));
        if (random_() % 6 == 0) line("ld.global.u32 {}, [%rd1];", r());
    }

    // Left to the interpreter.
    void rare() {
        switch (random_() % 5) {
            case 0:
                return line("popc.b32 {}, {};", r(), r());
            case 1:
                return line("prmt.b32 {}, {}, {}, {};", r(), r(), r(), integer());
            case 2:
                return line("add.rz.f32 {}, {}, {};", f(), f(), f());
            case 3:
                return line("lg2.approx.f32 {}, {};", f(), f());
            default:
                return line("atom.shared.add.u32 {}, [tile+512], {};", r(), r());
        }
    }

    void arithmetic() {
        using Texts = std::initializer_list<std::string>;
        const std::string g = guard();
        switch (random_() % 14) {
            case 0:
                return line("{}{} {}, {}, {};", g,
                            one_of(Texts{"add.s32", "sub.u32", "mul.lo.u32", "mul.hi.u32",
                                         "mul.hi.s32", "and.b32", "or.b32", "xor.b32", "min.s32",
                                         "min.u32", "max.s32", "max.u32"}),
                            r(), r(), integer());
            case 1:
                return line("{}{} {}, {}, {};", g, one_of(Texts{"shl.b32", "shr.u32", "shr.s32"}),
                            r(), r(), random_() % 2 ? r() : std::to_string(random_() % 40));
            case 2:
                return line("{}mad.lo.s32 {}, {}, {}, {};", g, r(), r(), integer(), integer());
            case 3:
                return line("{}lop3.b32 {}, {}, {}, {}, {};", g, r(), r(), r(), r(),
                            random_() % 256);
            case 4:
                return line("{}{} {}, {};", g, one_of(Texts{"neg.s32", "abs.s32", "not.b32"}), r(),
                            r());
            case 5:
                return line("{}setp.{}.{} {}, {}, {};", g,
                            one_of(Texts{"eq", "ne", "lt", "le", "gt", "ge"}),
                            one_of(Texts{"s32", "u32"}), p(), r(), integer());
            case 6:
                return line("{}setp.{}.f32 {}, {}, {};", g,
                            one_of(Texts{"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu",
                                         "leu", "gtu", "geu", "num", "nan"}),
                            p(), f(), real());
            case 7:
                return line("{}{} {}, {}, {};", g,
                            one_of(Texts{"add.f32", "sub.f32", "mul.f32", "min.f32", "max.f32",
                                         "div.rn.f32"}),
                            f(), f(), real());
            case 8:
                return line("{}fma.rn.f32 {}, {}, {}, {};", g, f(), f(), real(), real());
            case 9:
                return line("{}{} {}, {};", g,
                            one_of(Texts{"neg.f32", "abs.f32", "sqrt.rn.f32", "rcp.rn.f32",
                                         "rsqrt.approx.f32", "sin.approx.f32", "cos.approx.f32",
                                         "ex2.approx.f32", "cvt.rni.f32.f32"}),
                            f(), f());
            case 10:
                return random_() % 2
                           ? line("{}{} {}, {};", g,
                                  one_of(Texts{"cvt.rzi.s32.f32", "cvt.rni.s32.f32",
                                               "cvt.rzi.u32.f32"}),
                                  r(), f())
                           : line("{}{} {}, {};", g,
                                  one_of(Texts{"cvt.rn.f32.s32", "cvt.rn.f32.u32"}), f(), r());
            case 11:
                return line("{}selp.{} {}, {}, {}, {};", g, "b32", r(), r(), integer(), p());
            case 12:
                return line("{}{}.pred {}, {}, {};", g, one_of(Texts{"and", "or", "xor"}), p(), p(),
                            p());
            default:
                return wide_arithmetic(g);
        }
    }

    void wide_arithmetic(const std::string& g) {
        using Texts = std::initializer_list<std::string>;
        switch (random_() % 5) {
            case 0:
                return line("{}{} {}, {}, {};", g,
                            one_of(Texts{"add.s64", "sub.s64", "mul.lo.s64", "and.b64", "xor.b64",
                                         "min.s64", "max.u64"}),
                            wide(), wide(), wide());
            case 1:
                return line("{}{} {}, {}, {};", g, one_of(Texts{"mul.wide.s32", "mul.wide.u32"}),
                            wide(), r(), integer());
            case 2:
                return line("{}{} {}, {}, {};", g, one_of(Texts{"shl.b64", "shr.u64", "shr.s64"}),
                            wide(), wide(), random_() % 2 ? r() : std::to_string(random_() % 70));
            case 3:
                line("cvt.f64.f32 %fd1, {}; cvt.rn.f64.{} %fd2, {};", f(),
                     one_of(Texts{"s32", "u32"}), r());
                line("{} %fd1, %fd1, %fd2;", one_of(Texts{"add.f64", "mul.f64"}));
                return line("{}cvt.rn.f32.f64 {}, %fd1;", g, f());
            default:
                return line("{}cvt.{}.{} {}, {};", g, one_of(Texts{"s64", "u64"}),
                            one_of(Texts{"s32", "u32"}), wide(), r());
        }
    }

    std::mt19937_64 random_;
    std::string text_;
    unsigned labels_ = 0;
};

void expect_equal_forms(std::uint64_t seed, InstructionSet set) {
    const std::string ptx =
        kernel_text(Writer(seed).program(), ".shared .align 16 .b8 tile[1024];");
    SCOPED_TRACE(fmt::format("seed {}:\n{}", seed, ptx));
    BothForms both(ptx, set);
    // Blocks of one or more full warps; one with a part of a warp.
    for (const std::uint32_t threads : {32u, 128u, 80u})
        for (const Schedule schedule :
             {Schedule::random, Schedule::run_to_barrier, Schedule::reverse}) {
            LaunchSettings settings;
            settings.schedule = schedule;
            settings.seed = seed;
            settings.threads = 1;
            const LaunchShape launch{{2, 1, 1}, {threads, 1, 1}, 0};
            const Outcome interpreted = both.run(false, launch, settings, 0);
            ASSERT_EQ(interpreted.error, "");
            ASSERT_EQ(interpreted, both.run(true, launch, settings, 0))
                << threads << " threads, schedule " << int(schedule);
            if (schedule != Schedule::random || threads != 80) continue;
            ASSERT_EQ(both.observe(false, launch, settings, 0),
                      both.observe(true, launch, settings, 0))
                << threads << " observed threads";
        }
}

void expect_equal_programs(InstructionSet set, std::uint64_t first, std::uint64_t count) {
    if (!installed_llvm()) GTEST_SKIP() << "libLLVM is not installed";
    if (tests::long_tests()) count *= 40;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        expect_equal_forms(seed, set);
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(RandomPrograms, AreEqualOnThisCpu) {
    expect_equal_programs(InstructionSet::host, 1, 10);
}

#if defined(__x86_64__)
// The interpreter uses the instructions that the compiler may use: a sine has a fused step where
// the CPU has the instruction.
void expect_equal_programs_on(std::int64_t target, InstructionSet set, std::uint64_t first) {
    if (!(hwy::SupportedTargets() & target)) GTEST_SKIP() << "not on this CPU";
    hwy::SetSupportedTargetsForTest(target);
    expect_equal_programs(set, first, 3);
    hwy::SetSupportedTargetsForTest(0);
}

TEST(RandomPrograms, AreEqualWithSse4) {
    expect_equal_programs_on(HWY_SSE4, InstructionSet::sse4, 2001);
}
TEST(RandomPrograms, AreEqualWithAvx2) {
    expect_equal_programs_on(HWY_AVX2, InstructionSet::avx2, 3001);
}
// Builds with sanitizers have no handlers for AVX-512.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(RandomPrograms, AreEqualWithAvx512) {
    expect_equal_programs_on(HWY_AVX3, InstructionSet::avx512, 4001);
}
#endif
#endif

}  // namespace
}  // namespace warpscope::emulator
