#include "launches/files/launch_file.h"
#include "experiments/launch/open_launch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace warpscope::launches {
namespace {

const std::string whole_file = R"({
    "source": "saxpy.cu",
    "include": ["../common", "inc"],
    "scalars": {"n": 1000, "a": 2.5, "blocks": "(n + 255) / 256"},
    "buffers": {
        "x": {"type": "float", "shape": ["n"], "fill": "i * 0.5"},
        "y": {"shape": "n", "fill": {"uniform": [0, 1], "seed": 3}, "keep": true},
        "in": {"fill": {"file": "in.npy"}}
    },
    "textures": {
        "image": {"buffer": "x", "filter": "linear", "address": ["wrap", "border"],
                  "coordinates": "normalized", "read": "normalized", "slices": "layers"}
    },
    "launches": [
        {"kernel": "saxpy", "grid": ["blocks"], "block": 256, "shared": "4 * n", "cooperative": true,
         "repeat": 2,
         "arguments": {"count": "n", "p": {"x": 1, "y": "n"}, "none": null}}
    ],
    "expect": [{"buffer": "y", "equals": {"buffer": "x"}, "relative": 1e-6}],
    "show": {"buffer": "y", "as": "plot", "marks": false},
    "save": {"y": "y.npy"}
})";

std::string refusal(const std::string& text) {
    try {
        parse_launch_file(text);
        return "no error";
    } catch (const LaunchError& e) {
        return e.what();
    }
}

/// The file with one text in place of another.
std::string changed(const std::string& from, const std::string& to) {
    std::string text = whole_file;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(LaunchFiles, AreReadCompletely) {
    const LaunchFile file = parse_launch_file(whole_file);
    EXPECT_EQ(file.source, "saxpy.cu");
    EXPECT_EQ(file.include, (std::vector<std::filesystem::path>{"../common", "inc"}));
    ASSERT_EQ(file.scalars.size(), 3U);
    EXPECT_EQ(std::get<Number>(file.scalars[0].second), Number(1000L));
    EXPECT_EQ(std::get<Number>(file.scalars[1].second), Number(2.5));
    EXPECT_EQ(std::get<Expression>(file.scalars[2].second).text(), "(n + 255) / 256");
    ASSERT_EQ(file.buffers.size(), 3U);
    EXPECT_EQ(file.buffers[0].type, parse_element_type("float"));
    EXPECT_FALSE(file.buffers[1].type.has_value());
    EXPECT_EQ(file.buffers[1].keep, "y");
    EXPECT_EQ(std::get<RandomFill>(file.buffers[1].fill).seed, 3U);
    EXPECT_EQ(std::get<std::filesystem::path>(file.buffers[2].fill), "in.npy");
    ASSERT_EQ(file.textures.size(), 1U);
    EXPECT_TRUE(file.textures[0].linear);
    EXPECT_TRUE(file.textures[0].normalized_coordinates);
    EXPECT_TRUE(file.textures[0].normalized_numbers);
    EXPECT_EQ(file.textures[0].address[0], emulator::TextureAddress::wrap);
    EXPECT_EQ(file.textures[0].address[1], emulator::TextureAddress::border);
    EXPECT_EQ(file.textures[0].slices, emulator::Texture::Slices::layers);
    EXPECT_TRUE(file.launches[0].cooperative);
    ASSERT_EQ(file.launches.size(), 1U);
    const LaunchSpec& launch = file.launches[0];
    EXPECT_EQ(launch.block[0].text(), "256");
    EXPECT_EQ(launch.shared.text(), "4 * n");
    ASSERT_EQ(launch.arguments.size(), 3U);
    EXPECT_EQ(launch.arguments[1].second.members[1].second.text, "n");
    EXPECT_FALSE(launch.arguments[2].second.text.has_value());
    EXPECT_EQ(std::get<std::string>(file.expect[0].equals), "x");
    EXPECT_EQ(file.expect[0].relative, 1e-6);
    EXPECT_EQ(file.view, BufferView::plot);
    EXPECT_FALSE(file.marks);
    EXPECT_EQ(file.save[0].second, "y.npy");
}

TEST(LaunchFiles, ABufferKeepsTheNumbersOfAnother) {
    const LaunchFile file = parse_launch_file(changed("\"keep\": true", "\"keep\": \"in\""));
    EXPECT_EQ(file.buffers[1].keep, "in");
    EXPECT_NE(to_json_text(file).find("\"keep\": \"in\""), std::string::npos);
    const LaunchFile fresh = parse_launch_file(changed("\"keep\": true", "\"keep\": false"));
    EXPECT_EQ(fresh.buffers[1].keep, "");
}

TEST(LaunchFiles, ASourceIsCompiledForTheTargetOfItsFile) {
    EXPECT_EQ(parse_launch_file(whole_file).target, 0u);
    const std::string source = "\"source\": \"saxpy.cu\",";
    const LaunchFile file = parse_launch_file(changed(source, source + " \"target\": 80,"));
    EXPECT_EQ(file.target, 80u);
    EXPECT_NE(to_json_text(file).find("\"target\": 80"), std::string::npos);
    EXPECT_EQ(refusal(changed(source, source + " \"target\": 86,")),
              "target: write one of 75, 80, 90");
}

TEST(LaunchFiles, AWrittenFileReadsBackAsItWas) {
    const std::string text = to_json_text(parse_launch_file(whole_file));
    EXPECT_EQ(to_json_text(parse_launch_file(text)), text);
    EXPECT_NE(text.find("\"keep\": true"), std::string::npos);
    EXPECT_NE(text.find("\"address\": [\"wrap\", \"border\"]"), std::string::npos);
    EXPECT_NE(text.find("\"cooperative\": true"), std::string::npos);
    EXPECT_NE(text.find("\"include\": [\"../common\", \"inc\"]"), std::string::npos) << text;
}

TEST(LaunchFiles, AreWrittenInFewLines) {
    EXPECT_EQ(to_json_text(parse_launch_file(
                  R"({"source": "a.cu", "buffers": {"x": {"shape": "n", "fill": "0"}},
                      "scalars": {"n": 4},
                      "launches": [{"kernel": "f", "grid": ["n / 2", "1"], "block": ["32"]}]})")),
              "{\n"
              "    \"source\": \"a.cu\",\n"
              "    \"scalars\": {\"n\": 4},\n"
              "    \"buffers\": {\n"
              "        \"x\": {\"shape\": \"n\", \"fill\": 0}\n"
              "    },\n"
              "    \"launches\": [\n"
              "        {\"kernel\": \"f\", \"grid\": [\"n / 2\", 1], \"block\": 32}\n"
              "    ]\n"
              "}\n");
}

TEST(LaunchFiles, AFillIsOneLineOfText) {
    for (const char* text : {"2 * i + 1", "uniform(0, 1)", "uniform(-1.5, 2, seed 7)",
                             "normal(0, 0.25)", "file(x.npy)"})
        EXPECT_EQ(fill_text(parse_fill_text(text)), text);
    EXPECT_EQ(std::get<RandomFill>(parse_fill_text(" normal (1 , 2 / 4.0, seed 3) ")).second, 0.5);
    EXPECT_EQ(std::get<Expression>(parse_fill_text("min(i, 3)")).text(), "min(i, 3)");
    EXPECT_THROW(parse_fill_text("uniform(1)"), LaunchError);
    EXPECT_THROW(parse_fill_text("uniform(0, 1, 2)"), LaunchError);
    EXPECT_THROW(parse_fill_text("normal(0, x)"), LaunchError);
    EXPECT_THROW(parse_fill_text(""), LaunchError);
}

TEST(LaunchFiles, ASourceHasTheLaunchFileBesideIt) {
    const auto folder = std::filesystem::temp_directory_path() /
                        ("warpscope-launch-file-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const LaunchFile none = experiments::find_launch_file(folder / "saxpy.cu");
    EXPECT_FALSE(none.saved);
    EXPECT_TRUE(none.launches.empty());
    EXPECT_EQ(none.in_folder(none.source), folder / "saxpy.cu");
    EXPECT_EQ(none.file, folder / "saxpy.launch.json");
    std::ofstream(folder / "saxpy.launch.json") << whole_file;
    EXPECT_EQ(experiments::find_launch_file(folder / "saxpy.cu").launches.size(), 1U);
    EXPECT_TRUE(experiments::find_launch_file(folder / "saxpy.launch.json").saved);
    std::filesystem::remove_all(folder);
}

TEST(LaunchFiles, ErrorsNameTheField) {
    EXPECT_EQ(refusal("{"), "it is not valid JSON");
    EXPECT_EQ(refusal("[]"), "write an object, {…}");
    EXPECT_EQ(refusal("{\"source\": \"a.cu\"}"), "\"launches\" is missing");
    EXPECT_EQ(refusal(changed("\"launches\": [", "\"launches\": [],\"x\": [")).substr(0, 17),
              "\"x\" is not known;");
    EXPECT_EQ(refusal(changed("\"grid\"", "\"gird\"")),
              "launches[0]: \"gird\" is not known; known are: kernel, grid, block, shared, "
              "cooperative, cluster, repeat, arguments, captured");
    EXPECT_EQ(refusal(changed("\"linear\"", "\"cubic\"")),
              "textures.image.filter: write one of: point, linear");
    EXPECT_EQ(refusal(changed("\"layers\"", "\"sheets\"")),
              "textures.image.slices: write one of: volume, layers, faces");
    EXPECT_EQ(refusal(changed("\"buffer\": \"x\", \"filter\"", "\"buffer\": \"q\", \"filter\"")),
              "textures.image.buffer: \"q\" is no buffer; the buffers are: x, y, in");
    EXPECT_EQ(refusal(changed("[\"blocks\"]", "[]")),
              "launches[0].grid: write one to 3 numbers or expressions");
    EXPECT_EQ(refusal(changed("\"4 * n\"", "\"4 *\"")),
              "launches[0].shared: \"4 *\": column 4: a number or a name is missing");
    EXPECT_EQ(refusal(changed("\"float\"", "\"real\"")).substr(0, 42),
              "buffers.x.type: \"real\" is no type of eleme");
    EXPECT_EQ(refusal(changed("\"shape\": \"n\", ", "")),
              "buffers.y: \"shape\" is missing: only a file that fills the buffer can give it");
    EXPECT_EQ(refusal(changed("\"keep\": true", "\"keep\": 1")),
              "buffers.y.keep: write true, false or the name of a buffer");
    EXPECT_EQ(refusal(changed("\"keep\": true", "\"keep\": \"z\"")),
              "buffers.y.keep: \"z\" is no buffer; the buffers are: x, y, in");
    EXPECT_EQ(refusal(changed("[0, 1]", "[0]")), "buffers.y.fill.uniform: write two numbers");
    EXPECT_EQ(refusal(changed("{\"buffer\": \"x\"}", "{\"buffer\": \"z\"}")),
              "expect[0].equals: \"z\" is no buffer; the buffers are: x, y, in");
    EXPECT_EQ(refusal(changed("1e-6", "-1")),
              "expect[0].relative: write a number that is not negative");
    EXPECT_EQ(refusal(changed("\"plot\"", "\"pie\"")),
              "show.as: write one of: automatic, colors, grey, map, plot, histogram");
    EXPECT_EQ(refusal(changed("\"n\": 1000", "\"2n\": 1000")).substr(0, 11), "scalars.2n:");
    EXPECT_EQ(refusal(changed("\"n\": 1000", "\"time\": 1000")),
              "scalars.time: the name has a meaning in expressions already; choose another one");
}

}  // namespace
}  // namespace warpscope::launches
