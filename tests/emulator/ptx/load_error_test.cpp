#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

TEST(LoadError, OfAnUnknownOpcodeNamesPtxAndCudaLine) {
    const std::string text = load_error(
        ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n"
        ".reg .b32 %r<3>;\n.loc 1 42 5\nfrobnicate.b32 %r1, %r2;\nret;\n}\n"
        ".file 1 \"kernels/x.cu\"\n");
    expect_contains(text, "broken.ptx");
    expect_contains(text, "kernels/x.cu:42");
    expect_contains(text, "PTX line 8");
    expect_contains(text, "frobnicate.b32 %r1, %r2");
}

TEST(LoadError, NamesTheUnknownModifierTypeOrForm) {
    expect_contains(load_error(kernel_text("add.weird.s32 %r2, %r1, %r1;")), "weird");
    expect_contains(load_error(kernel_text("add.s128 %r2, %r1, %r1;")), "type is needed");
    expect_contains(load_error(kernel_text("add.rq.f32 %f2, %f1, %f1;")), "rq");
    expect_contains(load_error(kernel_text("add.s32 %r2, %r1;")), "operands");
    expect_contains(load_error(kernel_text("atom.global.inc.f32 %f2, [%rd1], %f1;")), "atomic");
    expect_contains(load_error(kernel_text("setp.zz.s32 %p1, %r1, %r2;")), "comparison");
}

// Parameters of the kernel and .const variables, named by their space or by a symbol alone.
TEST(LoadError, StoresAndAtomicsToReadOnlySpacesAreRejected) {
    const std::string variable = ".const .align 4 .b8 c[8];\n";
    for (const char* statement :
         {"st.param.u32 [k_n], %r1;", "st.u32 [k_n], %r1;", "st.const.u32 [c], %r1;",
          "st.u32 [c+4], %r1;", "atom.add.u32 %r2, [k_n], 9;", "red.add.u32 [c], 9;"})
        expect_contains(load_error(kernel_text(statement, variable)),
                        "this space cannot be written");
}

TEST(LoadError, SomeOfTexturesAndMatricesAreNotEmulated) {
    expect_contains(load_error(kernel_text("tld4.r.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, "
                                           "[%rd0, {%f4, %f5}];")),
                    "gathers of textures are not emulated: 'tld4.r");
    expect_contains(load_error(kernel_text("sured.b.add.2d.u32.trap [%rd0, {%r0, %r1}], %r2;")),
                    "reductions of surfaces are not emulated");
    expect_contains(load_error(kernel_text("tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, "
                                           "[image, {%f4, %f5}];")),
                    "texture references are not emulated: use a texture object");
    expect_contains(load_error(kernel_text("wmma.load.a.sync.aligned.row.m32n8k16.shared.f16 "
                                           "{%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}, [%rd0], %r0;")),
                    "the emulator does not execute this form of wmma");
    expect_contains(load_error(kernel_text("ld.global.f32 %f0, [%rd0, %rd1];")), "one value");
}

TEST(LoadError, SaysOfEachRefusedInstructionWhatIsNotEmulated) {
    const char* const vectors = "atomics of vectors are not emulated";
    const char* const small_floats = "products of matrices of 8-bit floats are not emulated";
    const char* const halves_of_bytes = "products of matrices of 4-bit integers are not emulated";
    const std::pair<const char*, const char*> refused[] = {
        {"txq.width.b32 %r0, [%rd0]", "queries of textures are not emulated: give the kernel"},
        {"suq.width.b32 %r0, [%rd0]", "queries of surfaces are not emulated: give the kernel"},
        {"multimem.ld_reduce.relaxed.sys.global.add.f32 %f0, [%rd0]",
         "the emulator has one GPU, and does not execute multimem"},
        {"tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd1",
         "the emulator does not change tensor maps: cuTensorMapEncodeTiled() makes them"},
        {"wgmma.fence.sync.aligned",
         "the emulator does not execute wgmma, the products of a group of four warps"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %rd0, %rd1, 1, 1, "
         "1, 0, 0",
         "the emulator does not execute wgmma, the products of a group of four warps"},
        {"tcgen05.wait::ld.sync.aligned",
         "the emulator does not execute tcgen05, the tensor cores of sm_100"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32",
         "the emulator does not execute tcgen05, the tensor cores of sm_100"},
        {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
         "[%r0], [%rd0, {%r1, %r2, %r3}], [%r4]",
         "copies of tensors by the columns of an image are not emulated"},
        {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, "
         "{%r2,%r3}, {%f0,%f1,%f2,%f3}, %r4, 0x0",
         "products of sparse matrices are not emulated"},
        {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, "
         "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3}",
         small_floats},
        {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%f0,%f1,%f2,%f3}, "
         "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3}",
         small_floats},
        {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r0,%r1}, {%r2}, {%r3}, "
         "{%r4,%r5}",
         "products of matrices of bits are not emulated"},
        {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r0,%r1}, {%r2}, {%r3}, {%r4,%r5}",
         halves_of_bytes},
        {"mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 {%r0,%r1}, {%r2}, {%r3}, {%r4,%r5}",
         halves_of_bytes},
        {"red.global.v2.f32.add [%rd0], {%f0,%f1}", vectors},
        {"red.global.v4.f32.add [%rd0], {%f0,%f1,%f2,%f3}", vectors},
        {"red.global.v8.bf16.add.noftz [%rd0], {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}", vectors},
        {"atom.global.v2.f32.add {%f0,%f1}, [%rd0], {%f2,%f3}", vectors},
        {"atom.global.v4.f32.add {%f0,%f1,%f2,%f3}, [%rd0], {%f4,%f5,%f6,%f7}", vectors},
        {"atom.global.v8.bf16.add.noftz {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, [%rd0], "
         "{%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}",
         vectors}};
    for (const auto& [statement, sentence] : refused) {
        const std::string text = load_error(kernel_text(statement + std::string(";")));
        expect_contains(text, sentence);
        expect_contains(text, statement);
    }
}

TEST(LoadError, WrongFormsOfMatrixInstructionsAreNamed) {
    const std::string product = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ";
    expect_contains(load_error(kernel_text(product + "{%f0,%f1,%f2,%f3}, {%r0,%r1,%r2}, {%r4,%r5}, "
                                                     "{%f0,%f1,%f2,%f3};")),
                    "a matrix has 3 registers where 4 are needed");
    expect_contains(
        load_error(kernel_text("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0,%f1}, "
                               "{%r0}, {%r1}, {%f2,%f3};")),
        "does not execute products of matrices of this shape and type");
    expect_contains(
        load_error(kernel_text("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1}, [%r2];")),
        "as many registers as matrices are needed");
    expect_contains(load_error(kernel_text("ldmatrix.sync.aligned.m8n8.shared.b16 {%r0}, [%r2];")),
                    "the number of matrices is .x1, .x2 or .x4");
    expect_contains(load_error(kernel_text("ld.global.b32 %r2, [%rd1], %rd0;")),
                    "only .L2::cache_hint has a policy");
}

TEST(LoadError, NamesTheUnknownLabelVariableOrRegister) {
    expect_contains(load_error(kernel_text("bra NOWHERE;")), "unknown label");
    expect_contains(load_error(kernel_text("mov.u32 %r2, nothing_here;")), "nothing_here");
    expect_contains(load_error(kernel_text("mov.u32 %r2, %madeup;")), "%madeup");
    expect_contains(load_error(kernel_text("@%q bra L; L:")), "%q");
}

TEST(LoadError, CallOfAFunctionOutsideTheModuleNamesIt) {
    expect_contains(load_error(kernel_text("call.uni f, ();")), "the function 'f' is not in");
}

TEST(LoadError, NamesTheUnknownDirectiveOrSyntaxFault) {
    expect_contains(load_error(".version 9.0\n.frob 3\n"), ".frob");
    expect_contains(load_error(kernel_text("add.s32 %r2, %r1, %r1")), "expected ';'");
    expect_contains(load_error(".version 9.0\n.visible .entry k() {"), "has no end");
    expect_contains(load_error(kernel_text(".loc 1 2 3, frobbed_at 3;")), "frobbed_at");
    expect_contains(load_error("/* no end"), "comment");
    expect_contains(load_error(kernel_text("L: add.s32 %r2, %r1, 1; L: ")), "defined twice");
}

// NVRTC prints blocks, labels and attributes in another style than nvcc.
TEST(Load, AcceptsTheTextThatNvrtcPrints) {
    Runner r(R"(
//
// Generated by NVIDIA NVVM Compiler
//
.version 8.7
.target sm_75, debug
.address_size 64
	// .globl	k
.visible .entry k(
	.param .u64 .ptr .global .align 4 k_param_0,
	.param .u32 k_param_1
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<5>;
// %bb.0:
	ld.param.b64 	%rd1, [k_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.b32 	%r1, %tid.x;
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	{ // callseq
	.reg .b32 temp;
	add.s32 temp, %r1, 7;
	st.global.b32 [%rd4], temp;
	}
	ret;
                                        // -- End function
}
.section	.debug_str
{
info: .b8 1
}
)");
    const auto out = r.run(one_block(40));
    for (std::uint32_t t = 0; t < 40; ++t) EXPECT_EQ(out[t], t + 7);
}

TEST(Load, ModuleVariablesKeepValuesBetweenLaunches) {
    Runner r(kernel_text("atom.global.add.u32 %r2, [counter], 5;\nst.global.u32 [%rd1], %r2;",
                         ".global .align 4 .u32 counter = 100;"));
    EXPECT_EQ(r.run(one_block(2)), (std::vector<std::uint32_t>{100, 105}));
    EXPECT_EQ(r.run(one_block(1)), (std::vector<std::uint32_t>{110}));
}

TEST(Load, ConstantArrayIsZeroBehindItsInitialValues) {
    Runner r(
        kernel_text("mul.wide.u32 %rd2, %r1, 4; mov.u64 %rd3, table; add.s64 %rd3, %rd3, %rd2;"
                    "ld.const.u32 %r2, [%rd3]; st.global.u32 [%rd1], %r2;",
                    ".const .align 4 .b8 table[16] = {1, 0, 0, 0, 0, 2};"));
    EXPECT_EQ(r.run(one_block(4)), (std::vector<std::uint32_t>{1, 512, 0, 0}));
}

// PTX ISA, "Arrays as Operands". The elements of all but bytes are larger than one address.
TEST(Load, AnElementOfAnArrayIsAnAddress) {
    Runner r(
        kernel_text(".shared .align 16 .u64 tile[4];\nmov.u32 %r4, 77;\n"
                    "st.shared.u32 tile[2], %r4;\nmov.u64 %rd3, tile[2];\n"
                    "ld.shared.u32 %r2, [%rd3];\nld.global.u32 %r3, table[3];\n"
                    "add.s32 %r2, %r2, %r3;\nmov.u64 %rd4, table[1]+4;\n"
                    "ld.global.u32 %r3, [%rd4];\nadd.s32 %r2, %r2, %r3;\n"
                    "st.global.u32 [%rd1], %r2;",
                    ".global .align 4 .u32 table[4] = {1000, 2000, 4000, 8000};"));
    EXPECT_EQ(r.run(one_block(1)), (std::vector<std::uint32_t>{77 + 8000 + 4000}));
    expect_contains(load_error(kernel_text(".shared .u32 tile[4];\nmov.u64 %rd3, tile[-1];")),
                    "no element -1");
    expect_contains(load_error(kernel_text("mov.u64 %rd3, nothing[0];")), "unknown name 'nothing'");
}

}  // namespace
}  // namespace warpscope::emulator
