#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "experiments/launch/launch_plan.h"
#include "experiments/proposals/propose_launch.h"
#include "support/add_kernel.h"

// What a proposed launch takes from the host program, and what of it is listed as guessed.
namespace warpscope::experiments {
namespace {

using compiler::Signature;
using compiler::Type;
using tests::f32;

using Listed = std::vector<std::string>;

/// The launches of this host program of a kernel.
ProposedLaunches proposed_for(const Signature& kernel, const std::string& host,
                              const std::vector<compiler::ModuleVariable>& variables = {}) {
    const HostProgram program = read_host_program(host);
    const ProposedKernel one{&kernel, find_launch(program, kernel)};
    return propose_launches({.source = "add.cu"}, {&one, 1}, program, variables);
}

TEST(ProposedLaunches, NumbersThatTheProgramDoesNotSayAreListed) {
    using Use = compiler::MemoryUse;
    const std::string host =
        "int main() { float *x, *y; cudaMalloc(&x, 400); cudaMalloc(&y, 400); load(x, y); FILL\n"
        "add<<<1, 100>>>(100, 2.0f, x, y); }";
    const auto with = [&](const Use& x, const Use& y, const std::string& fill) {
        Signature add = tests::add_signature();
        add.traits.memory = {{}, {}, x, y};
        std::string text = host;
        return proposed_for(add, text.replace(text.find("FILL"), 4, fill));
    };
    const std::string of_x = "the numbers of x", of_y = "the numbers of y";
    constexpr Use reads{.reads = true}, writes{.writes = true}, both{true, true};
    EXPECT_EQ(with(reads, both, "").chosen[0], (std::set<std::string>{of_x, of_y}));
    EXPECT_EQ(with(reads, both, "").guesses[0], Listed());
    EXPECT_EQ(with(reads, writes, "").chosen[0], (std::set<std::string>{of_x}));
    EXPECT_EQ(with(reads, both, "cudaMemset(y, 0, 400);").chosen[0], (std::set<std::string>{of_x}));
    const auto steered = with({.reads = true, .steers = true}, both, "");
    EXPECT_EQ(steered.guesses[0], Listed{of_x});
    EXPECT_EQ(steered.chosen[0], (std::set<std::string>{of_y}));
}

TEST(ProposedLaunches, NumbersOfVariablesThatNobodyFillsAreListed) {
    const std::vector<compiler::ModuleVariable> variables{
        {"taps", "taps_entry", tests::array_of(f32, 3), true},
        {"data", "data_entry", tests::pointer_to(f32), false}};
    Signature add = tests::add_signature();
    add.traits.memory = {{}, {}, {}, {}};
    add.traits.variables["taps_entry"] = {.reads = true};
    const std::string host =
        "int main() { float* h; cudaMalloc(&h, 40); cudaMemcpyToSymbol(data, &h, sizeof h);\n"
        "add<<<1, 1>>>(1, 2.0f, nullptr, nullptr); }";
    EXPECT_EQ(proposed_for(add, host, variables).chosen[0],
              (std::set<std::string>{"the numbers of taps"}));
    add.traits.variables["data_entry"] = {.reads = true, .steers = true};
    EXPECT_EQ(proposed_for(add, host, variables).guesses[0], Listed{"the numbers of h"});
}

TEST(ProposedLaunches, AFunctionThatAVariableOfTheDeviceHoldsIsPassed) {
    const auto op = tests::pointer_to(std::make_shared<Type>(Type{.kind = Type::Kind::function}));
    Signature apply;
    apply.name = "apply";
    apply.parameters = {{"p", tests::pointer_to(f32)}, {"op", op}};
    apply.traits.memory = {{.writes = true}, {}};
    const std::vector<compiler::ModuleVariable> variables{{"device_op", "device_op", op, false}};
    const std::string host =
        "int main() { float* p; Op host_op = nullptr, same; cudaMalloc(&p, 400); COPY\n"
        "same = host_op; apply<<<1, 100>>>(p, same); }";
    const auto with = [&](const std::string& copy) {
        std::string text = host;
        return proposed_for(apply, text.replace(text.find("COPY"), 4, copy), variables);
    };
    const ProposedLaunches made = with("cudaMemcpyFromSymbol(&host_op, device_op, sizeof(Op));");
    EXPECT_EQ(made.file.launches[0].arguments.back().second.text, "device_op");
    EXPECT_EQ(made.guesses[0], Listed());
    EXPECT_EQ(plan_launch(made.file, {apply}, variables).launches.size(), 1U);
    EXPECT_EQ(with("").guesses[0], Listed{"the function op"});
    EXPECT_EQ(with("cudaMemcpyFromSymbol(&host_op, other, 8);").guesses[0],
              Listed{"the function op"});
}

/// A kernel that reads a texture, and a program whose description has these settings.
ProposedLaunches textured(const std::string& settings,
                          const std::string& format = "cudaCreateChannelDesc<uchar4>()") {
    Signature blur;
    blur.name = "blur";
    blur.parameters = {
        {"image", tests::scalar(Type::Kind::unsigned_integer, "cudaTextureObject_t", 8)},
        {"out", tests::pointer_to(f32)}};
    blur.traits.images = {compiler::ImageUse{.dimensions = 2, .number = "float"}, {}};
    blur.traits.memory = {{.reads = true}, {.writes = true}};
    return proposed_for(
        blur,
        "int main(int argc, char** argv) { const int w = 20, h = 12; float* out;\n"
        "cudaMalloc(&out, w * h * 4); cudaArray_t array; cudaTextureObject_t tex = 0;\n"
        "cudaChannelFormatDesc format = " +
            format +
            "; cudaMallocArray(&array, &format, w, h);\n"
            "cudaResourceDesc from = {}; cudaTextureDesc how = {};\n"
            "from.resType = cudaResourceTypeArray; from.res.array.array = array;\n" +
            settings +
            "cudaCreateTextureObject(&tex, &from, &how, nullptr);\n"
            "blur<<<dim3(1, 1), dim3(20, 12)>>>(tex, out); }");
}

TEST(ProposedLaunches, ATextureIsAsTheProgramDescribesIt) {
    using emulator::TextureAddress;
    const ProposedLaunches made = textured(
        "how.filterMode = cudaFilterModeLinear; how.normalizedCoords = 1;\n"
        "how.readMode = cudaReadModeNormalizedFloat; how.addressMode[0] = cudaAddressModeMirror;\n"
        "how.addressMode[1] = cudaAddressModeBorder;");
    const TextureSpec& texture = *made.file.find_texture("image");
    EXPECT_TRUE(texture.linear && texture.normalized_coordinates && texture.normalized_numbers);
    EXPECT_EQ(texture.address[0], TextureAddress::mirror);
    EXPECT_EQ(texture.address[1], TextureAddress::border);
    const BufferSpec& buffer = *made.file.find_buffer(texture.buffer);
    EXPECT_EQ(to_string(*buffer.type), "uchar4");
    ASSERT_EQ(buffer.shape.size(), 2U);
    EXPECT_EQ(buffer.shape[0].text() + " x " + buffer.shape[1].text(), "12 x 20");
    EXPECT_EQ(made.guesses[0], Listed());
    EXPECT_EQ(made.chosen[0], (std::set<std::string>{"the numbers of " + texture.buffer}));
}

TEST(ProposedLaunches, AConditionMayChooseASetting) {
    const auto filter = [](const std::string& condition) {
        return textured("const int smooth = 3; how.filterMode = " + condition +
                        " ? cudaFilterModeLinear : cudaFilterModePoint;");
    };
    EXPECT_TRUE(filter("smooth > 2").file.find_texture("image")->linear);
    EXPECT_FALSE(filter("smooth > 3").file.find_texture("image")->linear);
    EXPECT_EQ(filter("smooth > 3").guesses[0], Listed());
    EXPECT_EQ(filter("ask()").guesses[0], Listed{"the texture image"});
    const ProposedLaunches both =
        textured("how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;");
    EXPECT_EQ(both.file.find_texture("image")->address[0], emulator::TextureAddress::border);
}

TEST(ProposedLaunches, ADescriptionThatSaysNothingHasTheValuesOfCuda) {
    const ProposedLaunches made =
        textured("", "cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindSigned)");
    const TextureSpec& texture = *made.file.find_texture("image");
    EXPECT_EQ(texture, (TextureSpec{.name = "image", .buffer = texture.buffer}));
    EXPECT_EQ(to_string(*made.file.find_buffer(texture.buffer)->type), "int2");
    EXPECT_EQ(made.guesses[0], Listed());
}

TEST(ProposedLaunches, ADescriptionThatIsNotKnownIsAGuess) {
    for (const char* settings :
         {"how.filterMode = cudaTextureFilterMode(atoi(argv[1]));", "how.normalizedCoords = argc;",
          "for (int d = 0; d < 2; ++d) how.addressMode[d] = mode(d);", "how.sRGB = 1;"}) {
        const ProposedLaunches made = textured(settings);
        const bool counts = std::string(settings).find("argc") != std::string::npos;
        EXPECT_EQ(made.guesses[0], counts ? Listed() : Listed{"the texture image"}) << settings;
    }
    EXPECT_EQ(textured("", "format_of_the_file()").guesses[0],
              (Listed{"the texture image", "the size of image_texels"}));
}

}  // namespace
}  // namespace warpscope::experiments
