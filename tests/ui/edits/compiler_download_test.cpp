#include "ui/edits/compiler_download.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compute/helper/processes.h"

namespace warpscope::ui {
namespace {

namespace fs = std::filesystem;
using News = CompilerDownload::News;
using tests::soon;

class CompilerDownloadTest : public testing::Test {
  protected:
    CompilerDownloadTest() { fs::create_directories(folder_); }
    ~CompilerDownloadTest() override { fs::remove_all(folder_); }

    std::string script(const std::string& lines) {
        const fs::path file = folder_ / "fetch";
        std::ofstream(file) << "#!/bin/sh\ncd " << folder_ << "\n" << lines;
        fs::permissions(file, fs::perms::owner_all);
        return file.string();
    }
    /// The news of a download that ends by itself.
    static News news_of(CompilerDownload& download) {
        News news = News::none;
        EXPECT_TRUE(soon([&] {
            if (news == News::none) news = download.take_news();
            return news != News::none;
        }));
        return news;
    }
    /// The process whose number the script has written to the file `child`.
    pid_t child() {
        pid_t id = 0;
        EXPECT_TRUE(soon([&] { return bool(std::ifstream(folder_ / "child") >> id); }));
        return id;
    }
    /// Lines of a script that starts a child process and waits for it.
    static constexpr const char* blocks = "sleep 600 & echo $! >half && mv half child; wait\n";

    const fs::path folder_ =
        fs::temp_directory_path() / ("warpscope-download-" + std::to_string(::getpid()));
};

TEST_F(CompilerDownloadTest, IsDoneWhenTheScriptHasSucceeded) {
    std::ofstream(folder_ / "stub") << "library";
    CompilerDownload download(script("echo noise; echo a warning >&2; cp stub libnvrtc.so.13\n"));
    EXPECT_TRUE(download.has_script());
    EXPECT_FALSE(download.runs());
    download.start();
    EXPECT_EQ(news_of(download), News::done);
    EXPECT_TRUE(fs::exists(folder_ / "libnvrtc.so.13"));
    EXPECT_EQ(download.error(), "");
    EXPECT_FALSE(download.runs());
    EXPECT_EQ(download.take_news(), News::none);
}

TEST_F(CompilerDownloadTest, AFailureGivesTheLastLineOfTheScript) {
    CompilerDownload download(script(
        "[ -e again ] && exit 0; echo more >&2; echo 'fetch: pip is missing' >&2; exit 1\n"));
    download.start();
    EXPECT_EQ(news_of(download), News::failed);
    EXPECT_EQ(download.error(), "NVRTC was not downloaded: pip is missing.");
    std::ofstream(folder_ / "again").flush();
    download.start();
    EXPECT_EQ(news_of(download), News::done);
    EXPECT_EQ(download.error(), "");
}

TEST_F(CompilerDownloadTest, AScriptWithoutAMessageOrWithoutAFileFailsToo) {
    CompilerDownload silent(script("exit 3\n"));
    silent.start();
    EXPECT_EQ(news_of(silent), News::failed);
    EXPECT_EQ(silent.error(), "NVRTC was not downloaded: " + (folder_ / "fetch").string() +
                                  " ended with exit code 3.");
    CompilerDownload none("/no/such/script");
    none.start();
    EXPECT_EQ(news_of(none), News::failed);
    EXPECT_EQ(none.error(),
              "NVRTC was not downloaded: /no/such/script: No such file or directory.");
}

TEST_F(CompilerDownloadTest, CancelEndsTheScriptAndItsChildProcesses) {
    CompilerDownload download(script(blocks));
    download.start();
    const pid_t id = child();
    EXPECT_TRUE(download.runs());
    EXPECT_FALSE(tests::has_ended(id));
    download.cancel();
    EXPECT_TRUE(soon([&] { return !download.runs(); }));
    EXPECT_TRUE(soon([&] { return tests::has_ended(id); }));
    EXPECT_EQ(download.take_news(), News::none);
    EXPECT_EQ(download.error(), "");
}

TEST_F(CompilerDownloadTest, AScriptThatIgnoresTheEndIsKilled) {
    CompilerDownload download(script(std::string("trap '' TERM\n") + blocks));
    download.start();
    const pid_t id = child();
    download.end();
    EXPECT_FALSE(download.runs());
    EXPECT_TRUE(soon([&] { return tests::has_ended(id); }));
}

}  // namespace
}  // namespace warpscope::ui
