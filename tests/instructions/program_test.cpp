#include <bit>

#include "instructions/form.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

using compute::Buffer;
using compute::DevicePointer;
using Word32 = std::uint32_t;

class ProgramInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(ProgramInstructions);

/// One PTX file of this folder. Its kernel `run` reads `in_words` words for each thread and writes
/// `out_words`.
struct Program {
    std::string file;
    compute::Dim3 grid, block;
    unsigned in_words, out_words;
    std::function<Word32(unsigned thread, unsigned word)> expected;  // threads in launch order
    std::function<Word32(unsigned word)> input = nullptr;            // nullptr: spread bits
    unsigned shared_bytes = 0;
};

Word32 spread(unsigned i) {
    return (i + 1) * 0x9e3779b9u;
}

unsigned threads_of(const Program& p) {
    return p.grid.x * p.grid.y * p.grid.z * p.block.x * p.block.y * p.block.z;
}

std::string_view ptx_of(const std::string& file) {
    return ptx_file(file + ".ptx");
}

void check(compute::Device& device, const Program& p) {
    std::vector<Word32> inputs(threads_of(p) * std::max(1u, p.in_words));
    for (unsigned i = 0; i < inputs.size(); ++i) inputs[i] = (p.input ? p.input : spread)(i);
    const Buffer<Word32> in(device, inputs);
    Buffer<Word32> out(device, threads_of(p) * p.out_words);
    out.fill(0);
    const auto kernel =
        device.kernel_from_ptx<DevicePointer<Word32>, DevicePointer<Word32>>(ptx_of(p.file), "run");
    device.launch(kernel, {p.grid, p.block, p.shared_bytes}, {}, in.pointer(), out.pointer());
    const std::vector<Word32> got = out.download();
    for (unsigned i = 0; i < got.size(); ++i) {
        const Word32 expected = p.expected(i / p.out_words, i % p.out_words);
        EXPECT_EQ(got[i], expected)
            << p.file << ".ptx: word " << i % p.out_words << " of thread " << i / p.out_words;
        if (got[i] != expected) return;
    }
}

constexpr compute::Dim3 x(unsigned n) {
    return {n, 1, 1};
}
std::int32_t sign_extended(Word32 value, int bits) {
    return std::int32_t(value << (32 - bits)) >> (32 - bits);
}
unsigned byte(unsigned row, unsigned index) {  // of a thread's four words
    return spread(row * 4 + index / 4) >> (8 * (index % 4)) & 255;
}

TEST_P(ProgramInstructions, SpecialRegisters) {
    check(
        device(),
        {"special_registers", {3, 2, 2}, {8, 3, 2}, 0, 20, [](unsigned i, unsigned word) -> Word32 {
             const unsigned lane = i % 48 % 32, block = i / 48;
             const Word32 bit = Word32(1) << lane;
             const Word32 expected[20]{i % 8,
                                       i / 8 % 3,
                                       i / 24 % 2,
                                       8,
                                       3,
                                       2,
                                       block % 3,
                                       block / 3 % 2,
                                       block / 6,
                                       3,
                                       2,
                                       2,
                                       lane,
                                       32,
                                       bit,
                                       bit - 1,
                                       bit | (bit - 1),
                                       ~(bit | (bit - 1)),
                                       ~(bit - 1),
                                       0};
             return expected[word];
         }});
}

TEST_P(ProgramInstructions, GlobalVectors) {
    check(device(), {"global_vectors", x(2), x(40), 24, 24, [](unsigned i, unsigned word) {
                         constexpr unsigned from[24]{3,  2,  1,  0,  5,  4,  6,  7,
                                                     10, 11, 8,  9,  14, 15, 12, 13,
                                                     19, 18, 17, 16, 22, 23, 20, 21};
                         return spread(24 * i + from[word]);
                     }});
}

TEST_P(ProgramInstructions, NarrowAccesses) {
    check(device(),
          {"narrow_accesses", x(2), x(64), 4, 14, [](unsigned i, unsigned word) -> Word32 {
               const auto b = [i](unsigned k) { return byte(i, k); };
               const auto h = [b](unsigned k) { return b(k) | b(k + 1) << 8; };
               const auto s = [b](unsigned k) { return sign_extended(b(k), 8); };
               const Word32 expected[14]{b(3),
                                         Word32(s(3)),
                                         h(2),
                                         Word32(sign_extended(h(2), 16)),
                                         b(0),
                                         0,
                                         Word32(s(7)),
                                         s(7) < 0 ? 0xffffffff : 0,
                                         b(7) | b(6) << 8 | b(5) << 16 | b(4) << 24,
                                         h(10) | h(8) << 16,
                                         Word32(s(12) + s(13) + s(14) + s(15)),
                                         b(15) << 8 | Word32(s(15)) << 16,
                                         0,
                                         0};
               return expected[word];
           }});
}

TEST_P(ProgramInstructions, OrderedAccesses) {
    check(device(),
          {"ordered_accesses", x(1), x(33), 1, 4, [](unsigned i, unsigned) { return spread(i); }});
}

TEST_P(ProgramInstructions, SharedMemory) {
    check(device(), {"shared_memory", x(3), x(128), 1, 8, [](unsigned i, unsigned word) -> Word32 {
                         const unsigned first = i / 128 * 128, me = i % 128;
                         const Word32 expected[8]{spread(first + 127 - me),
                                                  4242,
                                                  spread(first + 2),
                                                  spread(i) >> 8 & 255,
                                                  3,
                                                  0,
                                                  1,
                                                  0};
                         return expected[word];
                     }});
}

TEST_P(ProgramInstructions, SharedVectors) {
    check(device(), {"shared_vectors", x(2), x(64), 4, 4,
                     [](unsigned i, unsigned word) { return spread(4 * (i ^ 1) + 3 - word); }});
}

TEST_P(ProgramInstructions, DynamicSharedMemory) {
    check(device(), {"dynamic_shared", x(2), x(64), 1, 1,
                     [](unsigned i, unsigned) { return spread(i ^ 33); }, nullptr, 64 * 4 + 16});
}

TEST_P(ProgramInstructions, LocalMemory) {
    check(device(), {"local_memory", x(3), x(70), 1, 4, [](unsigned i, unsigned word) -> Word32 {
                         const Word32 a = spread(i), own = a + i % 16;
                         if (word < 2) return own;
                         if (word == 2) return 5;
                         return i % 16 == 14 ? a + 15 - 5 : i % 16 == 15 ? 5 - (a + 14) : 1;
                     }});
}

TEST_P(ProgramInstructions, GenericAddresses) {
    check(device(), {"generic_addresses", x(2), x(128), 2, 4, [](unsigned i, unsigned word) {
                         const Word32 a = spread(2 * i), b = spread(2 * i + 1);
                         const Word32 expected[4]{b, a, a, 9};
                         return expected[word];
                     }});
}

TEST_P(ProgramInstructions, DivergentLoop) {
    check(device(), {"divergent_loop", x(2), x(96), 1, 1, [](unsigned i, unsigned) {
                         const Word32 n = spread(i) & 63;
                         return n ? n * (n - 1) / 2 : 0;
                     }});
}

TEST_P(ProgramInstructions, NestedBranches) {
    check(device(), {"nested_branches", x(2), x(96), 1, 1,
                     [](unsigned i, unsigned) {
                         constexpr Word32 expected[8]{2006, 1, 2042, 2043, 1005, 1006, 1607, 1008};
                         return expected[i * 5 % 8];
                     },
                     [](unsigned i) { return i * 5; }});
}

TEST_P(ProgramInstructions, EarlyExit) {
    check(device(), {"leaving_early", x(2), x(96), 1, 1, [](unsigned i, unsigned) -> Word32 {
                         const Word32 n = spread(i) & 63;
                         if (n > 39) return 9999;
                         if (n == 0) return 3;
                         return n % 3 ? n + 3 - n % 3 : 0;
                     }});
}

TEST_P(ProgramInstructions, NestedLoops) {
    check(device(), {"nested_loops", x(2), x(96), 1, 1, [](unsigned t, unsigned) {
                         const Word32 n = spread(t) & 15;
                         Word32 sum = 0;
                         for (Word32 i = 0; i < n; ++i)
                             for (Word32 j = i; j < n; ++j) {
                                 sum += j;
                                 if (sum % 8 == 5) break;
                             }
                         return sum;
                     }});
}

TEST_P(ProgramInstructions, BarrierAfterExit) {
    check(device(), {"barrier_after_exit", x(2), x(128), 1, 1, [](unsigned i, unsigned) {
                         const unsigned first = i / 128 * 128, me = i % 128;
                         return me < 90 ? spread(first + (me + 50) % 90) : 0;
                     }});
}

TEST_P(ProgramInstructions, NamedBarriers) {
    check(device(), {"named_barriers", x(3), x(128), 1, 1,
                     [](unsigned i, unsigned) { return spread(i ^ 32); }});
}

TEST_P(ProgramInstructions, ProducerAndConsumer) {
    check(device(), {"producer_consumer", x(3), x(64), 1, 1,
                     [](unsigned i, unsigned) { return i % 64 < 32 ? 0 : spread(i - 32); }});
}

TEST_P(ProgramInstructions, BarrierReductions) {
    check(device(),
          {"barrier_reductions", x(3), x(100), 1, 4,
           [](unsigned i, unsigned word) {
               constexpr Word32 expected[3][4]{{50, 0, 1, 50}, {0, 0, 0, 100}, {100, 1, 1, 0}};
               return expected[i / 100][word];
           },
           [](unsigned i) { return i < 200 ? i : 0; }});
}

TEST_P(ProgramInstructions, WarpBarriers) {
    check(device(), {"warp_barriers", x(2), x(64), 1, 1, [](unsigned i, unsigned) {
                         return i % 32 < 16 ? 2 * spread(i ^ 2) : spread(i ^ 1);
                     }});
}

TEST_P(ProgramInstructions, ModuleVariablesKeepTheirValuesBetweenLaunches) {
    const auto kernel = device().kernel_from_ptx<DevicePointer<Word32>, DevicePointer<Word32>>(
        ptx_of("module_variables"), "run");
    const Buffer<Word32> out(device(), 32 * 5);
    constexpr Word32 primes[8]{2, 3, 5, 7, 11, 13, 17, 19};
    for (Word32 launch = 1; launch <= 2; ++launch) {
        device().launch(kernel, {x(1), x(32)}, {}, {}, out.pointer());
        const std::vector<Word32> got = out.download();
        for (unsigned t = 0; t < 32; ++t) {
            const std::vector<Word32> row(got.begin() + 5 * t, got.begin() + 5 * t + 5);
            EXPECT_EQ(row, (std::vector<Word32>{primes[t % 8], 19, 0x3fd55555, 0x44434241,
                                                100 + 32 * launch}));
        }
    }
}

TEST_P(ProgramInstructions, ParametersOfEveryKind) {
    struct alignas(8) Body {
        Word32 first = 0x01020304;
        std::uint8_t bytes[4]{9, 200, 7, 6};
        std::uint64_t wide = 0x1122334455667788;
        Word32 pair[2]{1000, 58};
    };
    static_assert(sizeof(Body) == 24);
    const auto kernel =
        device().kernel_from_ptx<DevicePointer<Word32>, Body, std::uint8_t, std::int16_t, float>(
            ptx_of("parameters"), "run");
    const Buffer<Word32> out(device(), 8 * 33);
    device().launch(kernel, {x(1), x(33)}, {}, out.pointer(), Body{}, 250, -3, 1.5f);
    const std::vector<Word32> got = out.download();
    for (unsigned t : {0u, 31u, 32u}) {
        const std::vector<Word32> row(got.begin() + 8 * t, got.begin() + 8 * t + 8);
        EXPECT_EQ(row, (std::vector<Word32>{0x01020304, 942, 0x55667788, 0x11223344, 250,
                                            0xfffffffd, 0x3fc00000, 200}));
    }
}

}  // namespace
}  // namespace warpscope::tests
