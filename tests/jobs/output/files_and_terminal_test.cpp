#include "jobs/output/files_and_terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace warpscope::jobs {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

class OutputTest : public testing::Test {
  protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() /
                  ("warpscope-" + std::string(test->name()) + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::size_t files() const {
        return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
    }

    fs::path folder_;
};

TEST_F(OutputTest, CheckWritableLeavesNoFile) {
    check_writable(folder_ / "new.png", "--screenshot");
    EXPECT_EQ(files(), 0u);
}

TEST_F(OutputTest, CheckWritableKeepsAnExistingFile) {
    write_file(folder_ / "old", "before");
    check_writable(folder_ / "old", "--json");
    EXPECT_EQ(read(folder_ / "old"), "before");
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputTest, CheckWritableNamesArgumentAndPath) {
    std::ofstream(folder_ / "file") << "x";
    const fs::path bad[] = {folder_ / "missing" / "a.png", folder_, folder_ / "file" / "a.png",
                            folder_ / "", folder_ / std::string(300, 'n')};
    for (const fs::path& path : bad) {
        try {
            check_writable(path, "--screenshot");
            ADD_FAILURE() << path;
        } catch (const UsageError& e) {
            const std::string text = e.what();
            EXPECT_NE(text.find("--screenshot " + path.string()), std::string::npos) << text;
            EXPECT_NE(text.find("name a file"), std::string::npos) << text;
        }
    }
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputTest, WriteFileReplacesAnOlderFile) {
    write_file(folder_ / "f", "a longer text than the next");
    write_file(folder_ / "f", "short");
    EXPECT_EQ(read(folder_ / "f"), "short");
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputTest, WriteFileKeepsALinkAndThePermissions) {
    fs::create_directory(folder_ / "real");
    write_file(folder_ / "real" / "f", "old");
    fs::permissions(folder_ / "real" / "f", fs::perms(0600));
    fs::create_symlink("real/f", folder_ / "link");
    check_writable(folder_ / "link", "--json");
    write_file(folder_ / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read(folder_ / "real" / "f"), "new");
    EXPECT_EQ(fs::status(folder_ / "real" / "f").permissions(), fs::perms(0600));
    EXPECT_EQ(files(), 2u);
}

TEST_F(OutputTest, AFileThatAnotherProcessHasMadeIsNotWrittenTo) {
    const std::string own = (folder_ / "f").string() + "." + std::to_string(::getpid()) + ".";
    write_file(folder_ / "target", "theirs");
    for (int i = 0; i < 100; ++i)
        fs::create_symlink(folder_ / "target", own + std::to_string(i) + ".part");
    write_file(folder_ / "f", "ours");
    EXPECT_EQ(read(folder_ / "f"), "ours");
    EXPECT_EQ(read(folder_ / "target"), "theirs");
    EXPECT_EQ(files(), 102u);
}

TEST_F(OutputTest, WritingToAFullDeviceThrows) {
    EXPECT_THROW(write_file("/dev/full", "text"), std::runtime_error);
    write_file("/dev/null", "text");
}

TEST_F(OutputTest, AFailedWriteLeavesTheFolderUnchanged) {
    EXPECT_THROW(write_file(folder_ / "missing" / "f", "text"), std::runtime_error);
    fs::create_directory(folder_ / "taken");
    EXPECT_THROW(write_file(folder_ / "taken", "text"), std::runtime_error);
    EXPECT_TRUE(fs::is_directory(folder_ / "taken"));
    EXPECT_EQ(files(), 1u);
}

TEST(Visible, ShowsControlCharactersAndInvalidBytesAsTheirNumbers) {
    EXPECT_EQ(visible("a\tb\nä → 1024²"), "a\tb\nä → 1024²");
    EXPECT_EQ(visible("\x1b[31mred\r\b\x7f"), "\\x1b[31mred\\x0d\\x08\\x7f");
    EXPECT_EQ(visible(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(visible("\u009b2J\u0080"), "\\xc2\\x9b2J\\xc2\\x80") << "U+009B is a CSI too";
    EXPECT_EQ(visible("\u00a0"), "\u00a0");
    EXPECT_EQ(visible("\x9b\xe4"
                      "2J"),
              "\\x9b\\xe4"
              "2J");
}

TEST(Wrap, BreaksAtSpacesAndBars) {
    using Lines = std::vector<std::string>;
    EXPECT_EQ(wrap("one two three", 7), (Lines{"one two", "three"}));
    EXPECT_EQ(wrap("one two three", 100), (Lines{"one two three"}));
    EXPECT_EQ(wrap("float3|float4|tiled", 14), (Lines{"float3|float4|", "tiled"}));
    EXPECT_EQ(wrap("unbreakable", 4), (Lines{"unbreakable"}));
    EXPECT_EQ(wrap("", 4), (Lines{""}));
    EXPECT_EQ(wrap("1024² 1024²", 11), (Lines{"1024² 1024²"}));
}

}  // namespace
}  // namespace warpscope::jobs
