#include "experiments/proposals/propose_launch.h"

#include <gtest/gtest.h>

#include <string>

#include "experiments/launch/launch_plan.h"
#include "support/add_kernel.h"

namespace warpscope::experiments {
namespace {

using compiler::Signature;
using compiler::Type;
using tests::f32;
using tests::i32;

const LaunchFile empty{.source = "add.cu"};

std::vector<std::string> texts(const std::vector<Expression>& expressions) {
    std::vector<std::string> all;
    for (const Expression& expression : expressions) all.push_back(expression.text());
    return all;
}

using Texts = std::vector<std::string>;

TEST(ProposedLaunches, GiveEachParameterAValue) {
    const LaunchFile file = propose_launch(empty, tests::add_signature());
    ASSERT_EQ(file.scalars.size(), 2U);
    EXPECT_EQ(file.scalars[0].first, "n");
    EXPECT_EQ(std::get<Number>(file.scalars[0].second), Number(std::int64_t(4096)));
    EXPECT_EQ(std::get<Number>(file.scalars[1].second), Number(1.0));
    ASSERT_EQ(file.buffers.size(), 2U);
    EXPECT_EQ(texts(file.buffers[1].shape), Texts{"n"});
    ASSERT_EQ(file.launches.size(), 1U);
    EXPECT_EQ(texts(file.launches[0].grid), Texts{"(n + 255) / 256"});
    EXPECT_EQ(texts(file.launches[0].block), Texts{"256"});
    const LaunchPlan plan = plan_launch(file, {tests::add_signature()});
    EXPECT_EQ(plan.launches[0].arguments.size(), 4U);
}

TEST(ProposedLaunches, IndicesInYArePictures) {
    auto input = std::make_shared<Type>(*tests::pointer_to(f32));
    input->target_is_const = true;
    Signature blur;
    blur.name = "blur";
    blur.parameters = {
        {"in", input}, {"out", tests::pointer_to(f32)}, {"width", i32}, {"height", i32}};
    blur.traits.block_dimensions = 2;
    const LaunchFile file = propose_launch(empty, blur);
    EXPECT_EQ(texts(file.buffers[0].shape), (Texts{"height", "width"}));
    EXPECT_EQ(texts(file.launches[0].grid), (Texts{"(width + 15) / 16", "(height + 15) / 16"}));
    EXPECT_EQ(texts(file.launches[0].block), (Texts{"16", "16"}));
    EXPECT_TRUE(std::holds_alternative<RandomFill>(file.buffers[0].fill));
    EXPECT_EQ(std::get<Expression>(file.buffers[1].fill).text(), "0");
    EXPECT_EQ(file.show, "out");
}

TEST(ProposedLaunches, PointersInABufferLeadToTheRowsOfOneMore) {
    Signature sums;
    sums.name = "sums";
    sums.parameters = {{"row", tests::pointer_to(tests::pointer_to(f32))},
                       {"out", tests::pointer_to(f32)},
                       {"n", i32}};
    const LaunchFile file = propose_launch(empty, sums);
    ASSERT_EQ(file.buffers.size(), 3U);
    const BufferSpec& rows = *file.find_buffer("row_rows");
    EXPECT_EQ(to_string(*rows.type), "float");
    EXPECT_EQ(texts(rows.shape), (Texts{"1 * (n)", "n"}));
    EXPECT_EQ(std::get<Expression>(file.find_buffer("row")->fill).text(), "row_rows + 4 * n * i");
    EXPECT_EQ(plan_launch(file, {sums}).types[file.index_of("row")].size(), 8U);
}

TEST(ProposedLaunches, ATextureReadsABufferOfItsOwn) {
    Signature blur;
    blur.name = "blur";
    blur.parameters = {
        {"image", tests::scalar(Type::Kind::unsigned_integer, "cudaTextureObject_t", 8)},
        {"out", tests::pointer_to(f32)},
        {"w", i32},
        {"h", i32}};
    blur.traits.block_dimensions = 2;
    EXPECT_THROW(plan_launch(propose_launch(empty, blur), {blur}), LaunchError)
        << "nothing says what it reads";
    blur.traits.images = {compiler::ImageUse{.dimensions = 2, .number = "float"}};
    const LaunchFile file = propose_launch(empty, blur);
    EXPECT_EQ(file.find_texture("image")->buffer, "image_texels");
    EXPECT_EQ(texts(file.find_buffer("image_texels")->shape), (Texts{"h", "w"}));
    EXPECT_EQ(plan_launch(file, {blur}).launches.size(), 1U);
    blur.traits.images = {compiler::ImageUse{.dimensions = 1, .number = "int"}};
    EXPECT_EQ(texts(propose_launch(empty, blur).find_buffer("image_texels")->shape), Texts{"w"});
}

/// The fills of the buffers of `add` where its code uses x and y in this way.
std::string fills_for(const compiler::MemoryUse& x, const compiler::MemoryUse& y) {
    Signature add = tests::add_signature();
    add.traits.memory = {{}, {}, x, y};
    const LaunchFile file = propose_launch(empty, add);
    return fill_text(file.buffers[0].fill) + "; " + fill_text(file.buffers[1].fill) + "; shows " +
           file.show;
}

TEST(ProposedLaunches, BuffersAreFilledAndShownAsTheCodeUsesThem) {
    using Use = compiler::MemoryUse;
    constexpr Use reads{.reads = true}, writes{.writes = true}, both{true, true};
    EXPECT_EQ(fills_for(reads, writes), "uniform(0, 1); 0; shows y");
    EXPECT_EQ(fills_for(writes, reads), "0; uniform(0, 1); shows x") << "the pointer order is free";
    EXPECT_EQ(fills_for(reads, both), "uniform(0, 1); 0; shows y") << "y is a sum";
    EXPECT_EQ(fills_for({}, both), "0; uniform(0, 1); shows y") << "y is changed in place";
}

/// add() as this host program launches it.
LaunchFile launched_by(const std::string& host) {
    Signature add = tests::add_signature();
    add.traits.dynamic_shared = 4;
    return propose_launch(empty, add, read_host_program(host));
}

std::string text_of(const LaunchFile& file, std::size_t scalar) {
    const auto& value = file.scalars[scalar].second;
    const auto* number = std::get_if<Number>(&value);
    return file.scalars[scalar].first + " = " +
           (number ? to_string(*number) : std::get<Expression>(value).text());
}

TEST(ProposedLaunches, FollowTheHostProgram) {
    const LaunchFile file = launched_by(
        "#define THREADS 64\nint main() { int size = 1000; float scale = 1.0f / 4;\n"
        "dim3 grid((size + THREADS - 1) / THREADS);\n"
        "add<<<grid, THREADS, THREADS * sizeof(unsigned long)>>>(size, scale, x, y); }");
    EXPECT_EQ(text_of(file, 0), "n = 1000");
    EXPECT_EQ(text_of(file, 1), "a = 0.25");
    EXPECT_EQ(texts(file.launches[0].grid), Texts{"(n + 64 - 1) / 64"});
    EXPECT_EQ(texts(file.launches[0].block), Texts{"64"});
    EXPECT_EQ(file.launches[0].shared.text(), "512");
    EXPECT_EQ(plan_launch(file, {tests::add_signature()}).launches.size(), 1U);
}

TEST(ProposedLaunches, AScalarMayDependOnTheOthers) {
    const LaunchFile file = launched_by(
        "int main() { float scale = 2.0f / sqrtf((float)n);\nadd<<<1, n, n * sizeof(int)>>>(n, "
        "scale, "
        "x, y); }");
    EXPECT_EQ(text_of(file, 1), "a = 2.0 / sqrt(1.0 * n)");
    EXPECT_EQ(texts(file.launches[0].block), Texts{"n"});
    EXPECT_EQ(file.launches[0].shared.text(), "n * 4");
}

TEST(ProposedLaunches, WhatTheHostProgramComputesIsNoSize) {
    Signature scan;
    scan.name = "scan";
    scan.parameters = {{"tile", i32}, {"n", i32}, {"out", tests::pointer_to(f32)}};
    LaunchFile file = propose_launch(
        empty, scan, read_host_program("int main() { scan<<<1, 32>>>(32, count, out); }"));
    EXPECT_EQ(text_of(file, 0), "tile = 32");
    EXPECT_EQ(text_of(file, 1), "n = 4096");
    EXPECT_EQ(texts(file.buffers[0].shape), Texts{"n"});
    file = propose_launch(empty, scan,
                          read_host_program("int main() { scan<<<1, 32>>>(32, 64, out); }"));
    EXPECT_EQ(texts(file.buffers[0].shape), (Texts{"n", "tile"})) << "there are no others";
}

TEST(ProposedLaunches, KeepTheirOwnValuesWhereTheHostProgramComputesThem) {
    const LaunchFile file = launched_by(
        "int main() { int n = atoi(argv[1]);\nadd<<<blocks(n), dim3(32), bytes>>>(n, f(n), x, y); "
        "}");
    EXPECT_EQ(text_of(file, 0), "n = 4096");
    EXPECT_EQ(text_of(file, 1), "a = 1");
    EXPECT_EQ(texts(file.launches[0].grid), Texts{"(n + 31) / 32"});
    EXPECT_EQ(file.launches[0].shared.text(), "32 * 4");
    EXPECT_EQ(text_of(launched_by("int main() { int n = n + 1; add<<<1, 1>>>(n, n, x, y); }"), 0),
              "n = 4096");
}

TEST(ProposedLaunches, SmallerSizesKeepTheRemainderByTheBlock) {
    const std::string host =
        "int main() { int n = 5000; float *x, *y; cudaMalloc(&x, n * sizeof(float));\n"
        "cudaMalloc(&y, sizeof(float) * (n + 8));\n"
        "add<<<(n + 95) / 96, 96>>>(n, 2, x, y + 8); }";
    Signature add = tests::add_signature();
    add.traits.memory = {{}, {}, {.reads = true}, {.writes = true}};
    const HostProgram program = read_host_program(host);
    const ProposedKernel kernel{&add, find_launch(program, add)};
    const ProposedLaunches made = propose_launches(empty, {&kernel, 1}, program);
    // 4096 / 96 = 42 blocks; 5000 % 96 = 8.
    EXPECT_EQ(text_of(made.file, 0), "n = 3944");
    EXPECT_EQ(made.reduced, Texts{"n is 3944, the host program has 5000"});
    EXPECT_EQ(texts(made.file.buffers[0].shape), Texts{"n"});
    EXPECT_EQ(texts(made.file.buffers[1].shape), Texts{"n + 8"});
    ASSERT_EQ(made.file.launches[0].arguments.size(), 1U);
    EXPECT_EQ(made.file.launches[0].arguments[0].second.text, "y + 8");
    EXPECT_TRUE(made.guesses[0].empty());
}

TEST(ProposedLaunches, ASizeThatNotAllBuffersHaveStays) {
    const LaunchFile file = launched_by(
        "int main() { int n = 5000; float* x; cudaMalloc(&x, 20000 * sizeof(float));\n"
        "add<<<20, 256, 0>>>(n, 2, x, x); }");
    EXPECT_EQ(text_of(file, 0), "n = 5000");
    EXPECT_EQ(texts(file.buffers[0].shape), Texts{"20000"});
}

TEST(ProposedLaunches, OneIntegerIsTheSideOfASquare) {
    Signature transpose;
    transpose.name = "transpose";
    transpose.parameters = {{"out", tests::pointer_to(f32)}, {"n", i32}};
    transpose.traits.block_dimensions = 2;
    const LaunchFile file = propose_launch(empty, transpose);
    EXPECT_EQ(std::get<Number>(file.scalars[0].second), Number(std::int64_t(64)));
    EXPECT_EQ(texts(file.buffers[0].shape), (Texts{"n", "n"}));
    EXPECT_EQ(texts(file.launches[0].grid), (Texts{"(n + 15) / 16", "(n + 15) / 16"}));
}

TEST(ProposedLaunches, IndicesInXAloneHaveOneDimension) {
    Signature softmax;
    softmax.name = "softmax";
    softmax.parameters = {{"out", tests::pointer_to(f32)}, {"N", i32}, {"C", i32}};
    softmax.traits.dynamic_shared = 8;
    const LaunchFile file = propose_launch(empty, softmax);
    EXPECT_EQ(texts(file.buffers[0].shape), (Texts{"C", "N"}));
    EXPECT_EQ(texts(file.launches[0].grid), Texts{"(N * C + 255) / 256"});
    EXPECT_EQ(texts(file.launches[0].block), Texts{"256"});
    EXPECT_EQ(file.launches[0].shared.text(), "256 * 8");
}

TEST(ProposedLaunches, RowsOfBlocksMayHaveBlocksOfOneRow) {
    Signature rows;
    rows.name = "rows";
    rows.parameters = {{"out", tests::pointer_to(f32)}, {"n", i32}};
    rows.traits.grid_dimensions = 2;
    const LaunchFile file = propose_launch(empty, rows);
    EXPECT_EQ(texts(file.buffers[0].shape), (Texts{"n", "n"}));
    EXPECT_EQ(texts(file.launches[0].grid), (Texts{"(n + 255) / 256", "n"}));
    EXPECT_EQ(texts(file.launches[0].block), Texts{"256"});
}

TEST(ProposedLaunches, ASecondKernelSharesScalarsAndBuffers) {
    LaunchFile file = propose_launch(empty, tests::add_signature());
    Signature other = tests::add_signature();
    other.name = "other";
    other.parameters.push_back({"z", tests::pointer_to(i32)});
    file = propose_launch(file, other);
    EXPECT_EQ(file.scalars.size(), 2U);
    EXPECT_EQ(file.buffers.size(), 3U);
    ASSERT_EQ(file.launches.size(), 2U);
    EXPECT_EQ(file.launches[1].kernel, "other");
}

TEST(ProposedLaunches, AParameterMayHaveANameOfTheExpressions) {
    Signature signature;
    signature.name = "f";
    signature.parameters = {
        {"iteration", i32}, {"x", i32}, {"time", f32}, {"y", tests::pointer_to(f32)}};
    const LaunchFile file = propose_launch(empty, signature);
    ASSERT_EQ(file.scalars.size(), 3U);
    EXPECT_EQ(text_of(file, 0), "value_of_iteration = 1");
    EXPECT_EQ(text_of(file, 1), "x = 1") << "it has a meaning in fills, so it is no size";
    EXPECT_EQ(texts(file.buffers[0].shape), Texts{"n"});
    EXPECT_EQ(plan_launch(file, {signature}).launches[0].arguments.size(), 4U);
    EXPECT_EQ(to_json_text(parse_launch_file(to_json_text(file))), to_json_text(file));
}

TEST(ProposedLaunches, ConstantVariablesWithoutAValueBecomeBuffers) {
    const std::vector<compiler::ModuleVariable> variables{
        {"taps", "taps", tests::array_of(tests::array_of(f32, 5), 3), true},
        {"bias", "bias", i32, true},
        {"preset", "preset", i32, false}};
    const LaunchFile file = propose_launch(empty, tests::add_signature(), {}, variables);
    ASSERT_EQ(file.buffers.size(), 4U);
    EXPECT_EQ(file.buffers[0].name, "taps");
    EXPECT_EQ(texts(file.buffers[0].shape), (Texts{"3", "5"}));
    EXPECT_TRUE(std::holds_alternative<RandomFill>(file.buffers[0].fill));
    EXPECT_EQ(file.buffers[1].name, "bias");
    EXPECT_EQ(texts(file.buffers[1].shape), Texts{"1"});
    EXPECT_EQ(file.buffers[2].name, "x");
    const LaunchPlan plan = plan_launch(file, {tests::add_signature()}, variables);
    EXPECT_EQ(plan.variables, (std::vector<std::string>{"taps", "bias", "", ""}));
}

TEST(ReplacedLaunches, TheOnlyLaunchTakesItsBuffersWithIt) {
    const std::vector<compiler::ModuleVariable> variables{
        {"taps", "taps", tests::array_of(f32, 5), true}};
    LaunchFile file = propose_launch(empty, tests::add_signature(), {}, variables);
    file.expect.emplace_back("y", Expression("1"));
    Signature other;
    other.name = "other";
    other.parameters = {{"z", tests::pointer_to(i32)}};
    file = replace_launch(file, 0, other, {}, std::vector<std::string>{"taps"});
    ASSERT_EQ(file.launches.size(), 1U);
    EXPECT_EQ(file.launches[0].kernel, "other");
    ASSERT_EQ(file.buffers.size(), 2U);
    EXPECT_EQ(file.buffers[0].name, "taps");
    EXPECT_EQ(file.buffers[1].name, "z");
    EXPECT_EQ(file.show, "z");
    EXPECT_TRUE(file.expect.empty());
    EXPECT_EQ(file.source, "add.cu");
}

TEST(ReplacedLaunches, OneOfSeveralKeepsItsPlace) {
    LaunchFile file = propose_launch(empty, tests::add_signature());
    file = propose_launch(file, tests::add_signature());
    Signature other;
    other.name = "other";
    other.parameters = {{"z", tests::pointer_to(i32)}};
    file = replace_launch(file, 0, other, {}, {});
    ASSERT_EQ(file.launches.size(), 2U);
    EXPECT_EQ(file.launches[0].kernel, "other");
    EXPECT_EQ(file.launches[1].kernel, "add");
    EXPECT_EQ(file.buffers.size(), 3U) << "x and y are those of the other launch";
}

TEST(ProposedLaunches, MembersOfAStructBecomeScalarsAndBuffers) {
    auto params = std::make_shared<Type>(Type{.kind = Type::Kind::structure, .name = "Params"});
    params->bytes = 24;
    params->members = {{"data", 0, tests::pointer_to(f32)}, {"n", 8, i32}, {"a", 12, f32}};
    Signature signature;
    signature.name = "f";
    signature.parameters = {{"p", params}};
    const LaunchFile file = propose_launch(empty, signature);
    EXPECT_EQ(file.buffers[0].name, "p_data");
    const LaunchPlan plan = plan_launch(file, {signature});
    ASSERT_EQ(plan.launches[0].arguments.size(), 1U);
    EXPECT_EQ(plan.launches[0].arguments[0].parts.size(), 3U);
}

}  // namespace
}  // namespace warpscope::experiments
