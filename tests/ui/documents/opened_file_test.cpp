#include "ui/edits/file_opener.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gl/png.h"
#include "support/file_opens.h"

namespace warpscope::ui {
namespace {

using Kind = OpenedFile::Kind;

class OpenedFileTest : public testing::Test {
  protected:
    OpenedFileTest() { std::filesystem::create_directories(folder_); }
    ~OpenedFileTest() override { std::filesystem::remove_all(folder_); }
    OpenedFile put(const std::string& name, const std::string& content) {
        std::ofstream(folder_ / name) << content;
        return read_file((folder_ / name).string());
    }
    OpenedFile picture(const experiments::Metadata& metadata) {
        const std::vector<std::uint8_t> pixel{1, 2, 3, 255};
        gl::write_png(folder_ / "picture.png", 1, 1, pixel, metadata);
        return read_file((folder_ / "picture.png").string());
    }

    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("warpscope-opened-" + std::to_string(::getpid()));
    const experiments::Metadata ripple_{{"Software", "Warpscope"},
                                        {"experiment", "ripple"},
                                        {"ripple.sync", "off"},
                                        {"ripple.size", "256"},
                                        {"math", "fast"},
                                        {"schedule", "reverse"},
                                        {"seed", "9"},
                                        {"barriers", "strict"},
                                        {"frame", "12"},
                                        {"kernels/ripple.cu", "x"},
                                        {"kernels/gone.cu", "y"}};
};

TEST_F(OpenedFileTest, BodiesAreCounted) {
    const OpenedFile file = put("stars.csv", "-1,0,0,0,0,0,1\n1,0,0,0,1,0,1\n");
    EXPECT_EQ(file.error, "");
    EXPECT_EQ(file.kind, Kind::bodies);
    EXPECT_EQ(file.bodies, 2U);
    EXPECT_EQ(file.path, (folder_ / "stars.csv").string());
}

TEST_F(OpenedFileTest, AnOrderOfWarpsIsRead) {
    const OpenedFile file = put("1.schedule", "kernel k\nblock 2 1 0\nwarp 3\n");
    EXPECT_EQ(file.error, "");
    EXPECT_EQ(file.kind, Kind::order);
    ASSERT_TRUE(file.order);
    EXPECT_EQ(file.order->block, (emulator::Dim3{2, 1, 0}));
    EXPECT_EQ(put("2.schedule", "kernel k\nwrap 3\n").error,
              (folder_ / "2.schedule").string() +
                  ":2: 'wrap' is none of kernel, together, block, landing, copy, epoch and warp");
}

TEST_F(OpenedFileTest, ALaunchFileMayNameAnOrder) {
    put("add.cu", "__global__ void add(int n) {}\n");
    put("1.schedule", "kernel add\nwarp 0\n");
    const char* const launch =
        R"({"source": "add.cu", "schedule": "1.schedule",
            "launches": [{"kernel": "add", "grid": 1, "block": 32}]})";
    const OpenedFile file = put("add.launch.json", launch);
    EXPECT_EQ(file.error, "");
    ASSERT_TRUE(file.order);
    EXPECT_EQ(file.order->kernel, "add");
    std::filesystem::remove(folder_ / "1.schedule");
    const std::string error = put("add.launch.json", launch).error;
    EXPECT_NE(error.find("add.launch.json: schedule: "), std::string::npos) << error;
}

TEST_F(OpenedFileTest, AKernelIsReadOnce) {
    put("add.cu", "__global__ void add(int n) {}\n");
    FileOpens opens(folder_ / "add.cu");
    EXPECT_EQ(read_file((folder_ / "add.cu").string()).error, "");
    EXPECT_EQ(opens.count(), 1);
}

TEST_F(OpenedFileTest, AKernelHasALaunchFile) {
    const OpenedFile alone = put("add.cu", "__global__ void add(int n) {}\n");
    EXPECT_EQ(alone.error, "");
    EXPECT_EQ(alone.kind, Kind::launch);
    EXPECT_EQ(alone.kernel, "__global__ void add(int n) {}\n");
    EXPECT_TRUE(alone.launch.launches.empty());
    EXPECT_FALSE(alone.launch.saved);
    const OpenedFile file =
        put("add.launch.json",
            R"({"source": "add.cu", "launches": [{"kernel": "add", "grid": 1, "block": 32}]})");
    EXPECT_EQ(file.kind, Kind::launch);
    EXPECT_EQ(file.kernel, alone.kernel);
    EXPECT_EQ(read_file((folder_ / "add.cu").string()).launch.launches.size(), 1U);
    EXPECT_NE(put("bad.launch.json", R"({"source": 3})").error.find("source: "), std::string::npos);
    EXPECT_NE(put("no.launch.json",
                  R"({"source": "no.cu", "launches": [{"kernel": "f", "grid": 1, "block": 1}]})")
                  .error.find("no.cu"),
              std::string::npos);
}

TEST_F(OpenedFileTest, ThePicturesMetadataAreItsSettings) {
    const OpenedFile file = picture(ripple_);
    ASSERT_EQ(file.error, "");
    EXPECT_EQ(file.kind, Kind::picture);
    EXPECT_EQ(file.entry, &experiments::find_experiment("ripple"));
    ASSERT_EQ(file.parameters.size(), 2U);
    EXPECT_EQ(file.parameters[1].id, "size");
    EXPECT_EQ(file.parameters[1].text, "256");
    EXPECT_EQ(file.frame, "12");
    EXPECT_EQ(file.sources, (compute::Sources{{"ripple", "x"}})) << "gone.cu is no kernel file";
    EXPECT_EQ(run_settings(file.metadata, {}),
              (compute::RunSettings{compute::Math::fast, compute::Schedule::reverse, 9,
                                    compute::BarrierPolicy::strict}));
}

TEST_F(OpenedFileTest, APictureOfALaunchNamesItsLaunchFile) {
    const std::string file = (folder_ / "add.launch.json").string();
    const experiments::Metadata metadata{{"Software", "Warpscope"},
                                         {"experiment", "launch"},
                                         {"launch file", file},
                                         {"launch.n", "600"},
                                         {"seed", "9"},
                                         {"frame", "12"}};
    EXPECT_EQ(picture(metadata).error, "Cannot open " + (folder_ / "picture.png").string() +
                                           ": its launch file " + file + " is missing.");
    put("add.cu", "__global__ void add(int n) {}\n");
    put("add.launch.json",
        R"({"source": "add.cu", "launches": [{"kernel": "add", "grid": 1, "block": 32}]})");
    const OpenedFile opened = picture(metadata);
    ASSERT_EQ(opened.error, "");
    EXPECT_EQ(opened.kind, Kind::launch);
    EXPECT_EQ(opened.launch.file, file);
    EXPECT_EQ(opened.kernel, "__global__ void add(int n) {}\n");
    ASSERT_EQ(opened.parameters.size(), 1U);
    EXPECT_EQ(opened.parameters[0].id, "n");
    EXPECT_EQ(opened.frame, "12");
    EXPECT_NE(picture({{"Software", "Warpscope"}, {"experiment", "launch"}})
                  .error.find("its launch was not saved"),
              std::string::npos);
}

TEST_F(OpenedFileTest, WhatAPictureOfAGpuDoesNotSayStays) {
    const compute::RunSettings base{compute::Math::precise, compute::Schedule::reverse, 9,
                                    compute::BarrierPolicy::strict};
    compute::RunSettings expected = base;
    expected.math = compute::Math::fast;
    EXPECT_EQ(run_settings({{"math", "fast"}}, base), expected);
}

TEST_F(OpenedFileTest, AWrongFileGivesOneSentenceThatNamesIt) {
    const auto expect = [&](const OpenedFile& file, const std::string& words) {
        EXPECT_NE(file.error.find(words), std::string::npos) << file.error;
        EXPECT_NE(file.error.find(folder_.string()), std::string::npos) << file.error;
        EXPECT_TRUE(file.error.ends_with('.')) << file.error;
    };
    expect(put("photo.jpg", "\xff\xd8\xff\xe0 no bodies"), "Warpscope opens bodies");
    expect(put("empty.csv", ""), "empty");
    expect(put("noise.png", "not a picture"), "Cannot open");
    expect(put("zero.cu", std::string("a\0b", 3)), "bytes of value 0");
    put("zero.launch.json",
        R"({"source": "zero.cu", "launches": [{"kernel": "zero", "grid": 1, "block": 1}]})");
    expect(read_file((folder_ / "zero.launch.json").string()), "bytes of value 0");
    expect(read_file((folder_ / "gone.png").string()), "No such file");
    expect(read_file(folder_.string()), "folder");
    expect(picture({{"Software", "Another"}}), "it holds no settings");
    auto later = ripple_;
    later[2] = {"ripple.colour", "red"};
    expect(picture(later), "not of this version");
    later = ripple_;
    later[6].second = "-1";
    expect(picture(later), "seed");
}

}  // namespace
}  // namespace warpscope::ui
