#include "experiments/proposals/propose_launch.h"

#include <gtest/gtest.h>

#include <string>

#include "experiments/launch/launch_plan.h"
#include "support/add_kernel.h"

namespace warpscope::experiments {

using namespace launches;
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
    const LaunchFile file = propose_launch(empty, tests::add_signature()).file;
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

TEST(ProposedLaunches, SayWhatWasGuessed) {
    Signature add = tests::add_signature();
    EXPECT_EQ(files::english(propose_launch(empty, add).guesses),
              (Texts{"n", "a", "the size of x", "the numbers of x", "the size of y",
                     "the numbers of y", "the block", "the grid"}));
    // n, a, x and y are there already.
    add.traits.dynamic_shared = 4;
    EXPECT_EQ(files::english(propose_launch(propose_launch(empty, add).file, add).guesses),
              (Texts{"the block", "the grid", "the shared memory"}));
}

TEST(ProposedLaunches, AKernelThatNeverReadsItsBlockGetsOne) {
    Signature add = tests::add_signature();
    add.traits.reads_block_index = false;
    EXPECT_EQ(texts(propose_launch(empty, add).file.launches[0].grid), Texts{"1"});
}

TEST(ProposedLaunches, IndicesInYArePictures) {
    auto input = std::make_shared<Type>(*tests::pointer_to(f32));
    input->target_is_const = true;
    Signature blur;
    blur.name = "blur";
    blur.parameters = {
        {"in", input}, {"out", tests::pointer_to(f32)}, {"width", i32}, {"height", i32}};
    blur.traits.block_dimensions = 2;
    const LaunchFile file = propose_launch(empty, blur).file;
    EXPECT_EQ(texts(file.buffers[0].shape), (Texts{"height", "width"}));
    EXPECT_EQ(texts(file.launches[0].grid), (Texts{"(width + 15) / 16", "(height + 15) / 16"}));
    EXPECT_EQ(texts(file.launches[0].block), (Texts{"16", "16"}));
    EXPECT_TRUE(std::holds_alternative<RandomFill>(file.buffers[0].fill));
    EXPECT_EQ(std::get<Expression>(file.buffers[1].fill).text(), "0");
    EXPECT_EQ(file.show, "out");
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
    EXPECT_THROW(plan_launch(propose_launch(empty, blur).file, {blur}), LaunchError)
        << "nothing says what it reads";
    blur.traits.texture = compiler::ImageUse{.dimensions = 2, .number = "float"};
    const LaunchFile file = propose_launch(empty, blur).file;
    EXPECT_EQ(file.find_texture("image")->buffer, "image_texels");
    EXPECT_EQ(texts(file.find_buffer("image_texels")->shape), (Texts{"h", "w"}));
    EXPECT_EQ(plan_launch(file, {blur}).launches.size(), 1U);
    blur.traits.texture = compiler::ImageUse{.dimensions = 1, .number = "int"};
    EXPECT_EQ(texts(propose_launch(empty, blur).file.find_buffer("image_texels")->shape),
              Texts{"w"});
}

std::string text_of(const LaunchFile& file, std::size_t scalar) {
    const auto& value = file.scalars[scalar].second;
    const auto* number = std::get_if<Number>(&value);
    return file.scalars[scalar].first + " = " +
           (number ? launches::to_string(*number) : std::get<Expression>(value).text());
}

TEST(ProposedLaunches, OneIntegerIsTheSideOfASquare) {
    Signature transpose;
    transpose.name = "transpose";
    transpose.parameters = {{"out", tests::pointer_to(f32)}, {"n", i32}};
    transpose.traits.block_dimensions = 2;
    const LaunchFile file = propose_launch(empty, transpose).file;
    EXPECT_EQ(std::get<Number>(file.scalars[0].second), Number(std::int64_t(64)));
    EXPECT_EQ(texts(file.buffers[0].shape), (Texts{"n", "n"}));
    EXPECT_EQ(texts(file.launches[0].grid), (Texts{"(n + 15) / 16", "(n + 15) / 16"}));
}

TEST(ProposedLaunches, IndicesInXAloneHaveOneDimension) {
    Signature softmax;
    softmax.name = "softmax";
    softmax.parameters = {{"out", tests::pointer_to(f32)}, {"N", i32}, {"C", i32}};
    softmax.traits.dynamic_shared = 8;
    const LaunchFile file = propose_launch(empty, softmax).file;
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
    const LaunchFile file = propose_launch(empty, rows).file;
    EXPECT_EQ(texts(file.buffers[0].shape), (Texts{"n", "n"}));
    EXPECT_EQ(texts(file.launches[0].grid), (Texts{"(n + 255) / 256", "n"}));
    EXPECT_EQ(texts(file.launches[0].block), Texts{"256"});
}

TEST(ProposedLaunches, ASecondKernelSharesScalarsAndBuffers) {
    LaunchFile file = propose_launch(empty, tests::add_signature()).file;
    Signature other = tests::add_signature();
    other.name = "other";
    other.parameters.push_back({"z", tests::pointer_to(i32)});
    file = propose_launch(file, other).file;
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
    const LaunchFile file = propose_launch(empty, signature).file;
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
    const LaunchFile file = propose_launch(empty, tests::add_signature(), variables).file;
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
    LaunchFile file = propose_launch(empty, tests::add_signature(), variables).file;
    file.expect.emplace_back("y", Expression("1"));
    Signature other;
    other.name = "other";
    other.parameters = {{"z", tests::pointer_to(i32)}};
    file = replace_launch(file, 0, other, std::vector<std::string>{"taps"});
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
    LaunchFile file = propose_launch(empty, tests::add_signature()).file;
    file = propose_launch(file, tests::add_signature()).file;
    Signature other;
    other.name = "other";
    other.parameters = {{"z", tests::pointer_to(i32)}};
    file = replace_launch(file, 0, other, {});
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
    const LaunchFile file = propose_launch(empty, signature).file;
    EXPECT_EQ(file.buffers[0].name, "p_data");
    EXPECT_EQ(texts(file.buffers[0].shape), Texts{"p_n"});
    EXPECT_EQ(text_of(file, 0), "p_n = 4096");
    EXPECT_EQ(texts(file.launches[0].grid), Texts{"(p_n + 255) / 256"});
    const LaunchPlan plan = plan_launch(file, {signature});
    ASSERT_EQ(plan.launches[0].arguments.size(), 1U);
    EXPECT_EQ(plan.launches[0].arguments[0].parts.size(), 3U);
}

}  // namespace
}  // namespace warpscope::experiments
