#include "compiler/source_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {
namespace {

namespace fs = std::filesystem;

class SourceFileTest : public testing::Test {
  protected:
    SourceFileTest() { fs::create_directories(folder_); }
    ~SourceFileTest() override { fs::remove_all(folder_); }

    std::string read_back(const std::string& bytes) {
        std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
        return read_source_file(file_);
    }
    static std::string reason(const fs::path& file) {
        try {
            read_source_file(file);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "none";
    }

    const fs::path folder_ =
        fs::temp_directory_path() / ("warpscope-source-" + std::to_string(::getpid()));
    const fs::path file_ = folder_ / "mine.cu";
};

TEST_F(SourceFileTest, LinesEndWithANewlineAlone) {
    EXPECT_EQ(read_back("one\r\ntwo\r\n\rthree\r"), "one\ntwo\n\rthree\r");
    EXPECT_EQ(read_back("\r\n"), "\n");
    EXPECT_EQ(read_back(""), "");
}

TEST_F(SourceFileTest, AByteOrderMarkIsLeftOutAtTheBeginningOnly) {
    EXPECT_EQ(read_back("\xEF\xBB\xBF// a\n\xEF\xBB\xBF"), "// a\n\xEF\xBB\xBF");
    EXPECT_EQ(read_back("\xEF\xBB"), "\xEF\xBB");
}

TEST_F(SourceFileTest, OtherBytesAreKept) {
    const std::string bytes{"a\0\xFF\t\x80", 5};
    EXPECT_EQ(read_back(bytes), bytes);
}

TEST_F(SourceFileTest, AFileLargerThanTheCompilerTakesIsRefused) {
    EXPECT_EQ(read_back(std::string(largest_source, 'x')).size(), largest_source);
    std::ofstream(file_, std::ios::binary | std::ios::trunc)
        << std::string(largest_source + 1, 'x');
    EXPECT_EQ(reason(file_),
              "it is larger than 1024 KiB, the largest kernel source that is compiled");
}

TEST_F(SourceFileTest, OnlyARegularFileIsRead) {
    EXPECT_EQ(reason(folder_), "it is a folder");
    EXPECT_EQ(reason("/dev/zero"), "it is not a regular file");
    ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(reason(folder_ / "pipe"), "it is not a regular file");
    EXPECT_EQ(reason(folder_ / "none.cu"), "No such file or directory");
}

}  // namespace
}  // namespace warpscope::compiler
