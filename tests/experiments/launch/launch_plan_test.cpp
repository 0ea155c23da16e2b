#include "experiments/launch/launch_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "experiments/launch/launch_parameters.h"
#include "scale_launch.h"
#include "support/add_kernel.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

using compiler::Signature;
using compiler::Type;
using tests::add_signature;
using tests::f32;
using tests::file_text;
using tests::i32;
using tests::pointer_to;

LaunchPlan planned(const std::string& text, const Signature& signature = add_signature()) {
    return plan_launch(parse_launch_file(text), {signature});
}

std::string error_of(const std::string& text, const Signature& signature = add_signature()) {
    try {
        planned(text, signature);
        return "no error";
    } catch (const LaunchError& e) {
        return e.what();
    }
}

TEST(LaunchPlans, BuffersTakeTheTypeOfTheirPointer) {
    const LaunchPlan plan = planned(file_text());
    EXPECT_EQ(plan.types, (std::vector{parse_element_type("float"), parse_element_type("float")}));
    ASSERT_EQ(plan.launches[0].arguments.size(), 4U);
    EXPECT_EQ(plan.launches[0].arguments[0].bytes, 4U);
    EXPECT_EQ(std::get<std::size_t>(plan.launches[0].arguments[3].parts[0].value), 1U);
}

TEST(LaunchPlans, TheArgumentsOfATemplateNeedNoSuffixes) {
    Signature signature = add_signature();
    signature.name = "add<256U, int2, -3LL>";
    std::string text = file_text();
    const auto planned_as = [&](const char* name) {
        std::string named = text;
        named.replace(named.find("\"add\", \"grid\""), 5, '"' + std::string(name) + '"');
        return error_of(named, signature);
    };
    EXPECT_EQ(planned_as("add<256,int2,-3>"), "no error");
    EXPECT_EQ(planned_as("add< 256u, int2, -3ll >"), "no error");
    EXPECT_NE(planned_as("add<25, int2, -3>"), "no error");
    EXPECT_NE(planned_as("add<256, int, -3>"), "no error");
}

TEST(LaunchPlans, ABufferOfBytesIsPassedToAnyPointer) {
    std::string text = file_text();
    text.replace(text.find("\"x\": {"), 6, "\"x\": {\"type\": \"uchar4\", ");
    EXPECT_EQ(error_of(text), "no error");
}

TEST(LaunchPlans, ABufferThatAKernelTakesIsNoVariable) {
    auto variables = scale_variables();
    variables.push_back({"y", "y", tests::array_of(f32, 8)});
    const LaunchPlan plan = planned_scale(scale_file(""), variables);
    EXPECT_EQ(plan.variables, (std::vector<std::string>{"", "_ZN3lib7factorsE", "_ZN3lib5callsE"}));
}

TEST(LaunchPlans, TwoVariablesOfOneNameAreRefused) {
    auto variables = scale_variables();
    variables.push_back({"factors", "_ZN5other7factorsE", tests::array_of(f32, 4)});
    try {
        planned_scale(scale_file(""), variables);
        FAIL() << "no error";
    } catch (const LaunchError& error) {
        EXPECT_STREQ(error.what(),
                     "buffers.factors: several variables of the source have this name");
    }
}

TEST(LaunchPlans, HalvesAreNumbers) {
    const auto named = [](const char* name, const char* canonical) {
        auto type = std::make_shared<Type>(Type{.kind = Type::Kind::floating, .name = name});
        type->canonical = canonical;
        type->bytes = 2;
        return type;
    };
    Signature signature = add_signature();
    signature.parameters = {{"a", named("half", "__half")},
                            {"x", pointer_to(named("half", "__half"))},
                            {"y", pointer_to(named("bf", "__nv_bfloat16"))}};
    const LaunchPlan plan = planned(file_text(), signature);
    EXPECT_EQ(plan.types,
              (std::vector{parse_element_type("half"), parse_element_type("bfloat16")}));
    EXPECT_EQ(plan.launches[0].arguments[0].parts[0].type, parse_element_type("half"));
}

TEST(LaunchPlans, StructsAreGivenByMembers) {
    auto inner = std::make_shared<Type>(Type{.kind = Type::Kind::structure, .name = "In"});
    inner->bytes = 8;
    inner->members = {{"lo", 0, f32}, {"hi", 4, i32}};
    auto outer = std::make_shared<Type>(Type{.kind = Type::Kind::structure, .name = "Out"});
    outer->bytes = 24;
    outer->members = {{"p", 0, pointer_to(f32)}, {"in", 8, inner}, {"k", 16, i32}};
    Signature signature = add_signature();
    signature.parameters = {{"o", outer}};
    const auto with = [&](const std::string& value) {
        std::string text = file_text("", ", \"arguments\": {\"o\": " + value + "}");
        return text.replace(text.find("\"x\": {"), 6, "\"x\": {\"type\": \"float\", ");
    };
    const LaunchPlan plan =
        planned(with(R"({"p": "y", "in": {"lo": 0.5, "hi": "n"}, "k": 7})"), signature);
    const BoundArgument& argument = plan.launches[0].arguments[0];
    EXPECT_EQ(argument.bytes, 24U);
    ASSERT_EQ(argument.parts.size(), 4U);
    EXPECT_EQ(argument.parts[1].offset, 8U);
    EXPECT_EQ(argument.parts[2].offset, 12U);
    EXPECT_EQ(argument.parts[3].offset, 16U);
    EXPECT_EQ(error_of(with(R"({"p": "y", "k": 7})"), signature),
              "launches[0].arguments.o: the member in of Out has no value; write an object with: "
              "p, in, k");
    EXPECT_EQ(
        error_of(with(R"({"p": "y", "in": {"lo": 1, "hi": 1, "mid": 1}, "k": 7})"), signature),
        "launches[0].arguments.o.in: In has no member mid; it has: lo, hi");
}

TEST(LaunchPlans, AUnionIsGivenByOneMember) {
    auto either = std::make_shared<Type>(*tests::scalar(Type::Kind::structure, "Either", 4));
    either->members = {{"f", 0, f32}, {"i", 0, i32}};
    Signature signature = add_signature();
    signature.parameters.push_back({"u", either});
    const auto text = [](const std::string& members) {
        return file_text("", R"(, "arguments": {"u": {)" + members + "}}");
    };
    const LaunchPlan plan = planned(text(R"("i": 7)"), signature);
    EXPECT_EQ(plan.launches[0].arguments[4].bytes, 4U);
    EXPECT_EQ(plan.launches[0].arguments[4].parts.size(), 1U);
    EXPECT_EQ(error_of(text(R"("i": 7, "f": 1)"), signature),
              "launches[0].arguments.u: Either is a union: give one of its members: f, i");
}

TEST(LaunchPlans, ErrorsNameTheField) {
    std::string text = file_text();
    text.replace(text.find("\"add\", \"grid\""), 5, "\"sub\"");
    EXPECT_EQ(error_of(text), "launches[0].kernel: the source has no kernel sub; it has: add");
    EXPECT_EQ(error_of(file_text("", R"(, "arguments": {"z": 1})")),
              "launches[0].arguments: add has no parameter z; it has: n, a, x, y");
    EXPECT_EQ(error_of(file_text("", R"(, "arguments": {"x": "n"})")),
              "launches[0].arguments.x: \"n\" is no buffer; write the name of one, as in \"x\" or "
              "\"x + 2\", or null");
    EXPECT_EQ(error_of(file_text("", R"(, "arguments": {"a": null})")),
              "launches[0].arguments.a: write a number or an expression for the float");
    Signature other = add_signature();
    other.parameters.push_back({"k", i32});
    EXPECT_EQ(error_of(file_text(), other),
              "launches[0].arguments: the parameter int k has no value: give it one here, or a "
              "scalar of its name");
    text = file_text();
    text.replace(text.find("\"x\": {"), 6, "\"x\": {\"type\": \"int\", ");
    EXPECT_EQ(error_of(text),
              "launches[0].arguments.x: the parameter points at float, but the buffer x holds int");
    text = file_text("", R"(, "arguments": {"x": null})");
    EXPECT_EQ(error_of(text),
              "buffers.x: \"type\" is missing, and no parameter and no variable of the source says "
              "what the buffer holds");
}

TEST(LaunchPlans, ANumberFitsIntoItsParameterAndResultsOfExpressionsAreConverted) {
    const auto error_for = [](const std::string& argument) {
        return error_of(file_text("", R"(, "arguments": {)" + argument + "}"));
    };
    for (const char* fitting : {R"("n": 2147483647)", R"("n": -2147483648)", R"("n": 3.0)",
                                R"("n": "1000 / 3.0")", R"("a": 0.1)", R"("a": "1.0 / 0.0")"})
        EXPECT_EQ(error_for(fitting), "no error") << fitting;
    for (const char* number : {"2.5", "3000000000", "-2147483649", "1e+300"})
        EXPECT_EQ(
            error_for(R"("n": )" + std::string(number)),
            fmt::format("launches[0].arguments.n: {} does not fit into the type int", number));
    EXPECT_EQ(error_for(R"("n": "1.0 / 0.0")"),
              "launches[0].arguments.n: 1.0 / 0.0 does not fit into the type int");
    EXPECT_EQ(error_for(R"("a": 1e300)"),
              "launches[0].arguments.a: 1e+300 does not fit into the type float");
    EXPECT_EQ(
        error_for(R"("n": "x")"),
        "launches[0].arguments.n: x is a buffer; write a number or an expression for the int");
    EXPECT_EQ(error_for(R"("x": [1, 2])"),
              "launches[0].arguments.x: write the name of a buffer, or null, for the float*; "
              "a pointer takes no numbers");
}

TEST(LaunchPlans, ABufferThatIsSavedBelongsToAParameterOrAVariable) {
    const auto error_for = [](const std::string& saved) {
        std::string text = file_text(R"(, "save": {")" + saved + R"(": "saved.npy"})");
        text.insert(text.find("\"x\": {"), R"("z": {"type": "int", "shape": 4}, )");
        return error_of(text);
    };
    EXPECT_EQ(error_for("x"), "no error");
    EXPECT_EQ(error_for("z"),
              "save.z: add has no parameter z, and the source no variable z; add has the "
              "parameters: n, a, x, y");
}

TEST(LaunchPlans, AScalarMustNotHideAParameter) {
    std::string text = file_text();
    text.replace(text.find("\"n\": 1000"), 9, "\"n\": 1000, \"view\": 1");
    const auto plan = std::make_shared<LaunchPlan>(planned(text));
    EXPECT_THROW(LaunchParameters{plan}, LaunchError);
}

}  // namespace
}  // namespace warpscope::experiments
