#include "ui/edits/edit_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <thread>

namespace warpscope::ui {
namespace {

namespace fs = std::filesystem;

class KernelFolderTest : public testing::Test {
  protected:
    KernelFolderTest() {
        fs::remove_all(root_);
        fs::create_directories(folder_ / "gallery");
    }
    ~KernelFolderTest() override { fs::remove_all(root_); }

    static void write(const fs::path& file, const std::string& text) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
        // Another time stamp, however coarse the file system's clock is.
        fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(++writes_));
    }
    /// Until a change has been seen and stands still.
    std::string look() {
        std::string said;
        for (int i = 0; i < 3; ++i) {
            said += watched_.look(documents_);
            now_ += KernelFolder::pause;
        }
        return said;
    }

    static inline int writes_ = 0;
    const fs::path root_ =
        fs::temp_directory_path() / ("warpscope-folder-" + std::to_string(::getpid()));
    const fs::path folder_ = root_ / "watched", own_ = root_ / "mine.txt";
    KernelDocuments documents_;
    KernelFolder::Time now_{std::chrono::hours(1)};
    KernelFolder watched_{folder_, own_, "dot", [this] { return now_; }};
};

TEST_F(KernelFolderTest, ReadsAllFilesAtOnceAndThenThoseThatChange) {
    write(folder_ / "ripple.cu", "one");
    write(own_, "mine");
    EXPECT_EQ(watched_.look(documents_), "");
    EXPECT_EQ(documents_["ripple"].text(), "one");
    EXPECT_EQ(documents_["dot"].text(), "mine");
    const std::uint64_t version = documents_.version();
    look();
    EXPECT_EQ(documents_.version(), version);
    write(folder_ / "ripple.cu", "two");
    EXPECT_EQ(look(), "");
    EXPECT_EQ(documents_["ripple"].text(), "two");
    ASSERT_NE(watched_.taken("ripple"), nullptr);
    EXPECT_EQ(*watched_.taken("ripple"), "two");
    EXPECT_EQ(watched_.taken("nbody"), nullptr);
}

TEST_F(KernelFolderTest, ALookBesideReadsOnAnotherThreadAndWakesWhoWaits) {
    write(folder_ / "ripple.cu", "one");
    std::promise<std::thread::id> woken;
    const auto wake = [&] { woken.set_value(std::this_thread::get_id()); };
    EXPECT_EQ(watched_.look_beside(documents_, wake), "");
    EXPECT_NE(woken.get_future().get(), std::this_thread::get_id());
    // The thread ends soon after it has woken this one. Time stands still: it does not look again.
    while (!watched_.taken("ripple")) watched_.look_beside(documents_, wake);
    EXPECT_EQ(documents_["ripple"].text(), "one");
    EXPECT_EQ(*watched_.taken("ripple"), "one");
}

TEST_F(KernelFolderTest, LooksOnlyOncePerPause) {
    write(own_, "mine");
    watched_.look(documents_);
    write(folder_ / "rippel.cu", "a slip");
    now_ += KernelFolder::pause - std::chrono::milliseconds(1);
    EXPECT_EQ(watched_.look(documents_), "");
    now_ += std::chrono::milliseconds(1);
    EXPECT_NE(watched_.look(documents_), "");
}

TEST_F(KernelFolderTest, LinesEndWithANewlineAlone) {
    write(own_, "mine");
    write(folder_ / "ripple.cu", "one\r\ntwo\r\n\rthree\r");
    EXPECT_EQ(watched_.look(documents_), "");
    EXPECT_EQ(documents_["ripple"].text(), "one\ntwo\n\rthree\r");
}

TEST_F(KernelFolderTest, AFileThatIsReplacedByRenamingIsRead) {
    write(folder_ / "ripple.cu", "one");
    watched_.look(documents_);
    now_ += KernelFolder::pause;
    fs::rename(folder_ / "ripple.cu", folder_ / "ripple.cu~");
    EXPECT_EQ(look(), "");
    EXPECT_EQ(documents_["ripple"].text(), "one");
    write(folder_ / ".ripple.cu.swp", "new");
    fs::rename(folder_ / ".ripple.cu.swp", folder_ / "ripple.cu");
    EXPECT_EQ(look(), "");
    EXPECT_EQ(documents_["ripple"].text(), "new");
}

TEST_F(KernelFolderTest, AFileIsReadOnlyOnceItStopsChanging) {
    write(folder_ / "ripple.cu", "one");
    watched_.look(documents_);
    for (const char* part : {"h", "ha", "hal", "half"}) {
        now_ += KernelFolder::pause;
        write(folder_ / "ripple.cu", part);
        watched_.look(documents_);
        EXPECT_EQ(documents_["ripple"].text(), "one");
    }
    look();
    EXPECT_EQ(documents_["ripple"].text(), "half");
}

TEST_F(KernelFolderTest, AFileWithoutAKernelsNameIsToldOnce) {
    write(own_, "mine");
    write(folder_ / "rippel.cu", "a slip");
    write(folder_ / "notes.txt", "no kernel at all");
    EXPECT_EQ(watched_.look(documents_), "No kernel file of Warpscope has this name: rippel.cu.");
    EXPECT_EQ(look(), "");
}

TEST_F(KernelFolderTest, AMissingFolderIsToldOnceAndItsReturnToo) {
    write(own_, "mine");
    write(folder_ / "ripple.cu", "one");
    watched_.look(documents_);
    fs::rename(folder_, root_ / "elsewhere");
    const std::string said = look();
    EXPECT_NE(said.find("is gone"), std::string::npos) << said;
    EXPECT_EQ(said.find("is gone"), said.rfind("is gone"));
    EXPECT_EQ(documents_["ripple"].text(), "one");
    write(root_ / "elsewhere" / "ripple.cu", "two");
    fs::rename(root_ / "elsewhere", folder_);
    now_ += KernelFolder::pause;
    EXPECT_EQ(watched_.look(documents_), "The folder " + folder_.string() + " is back.");
    EXPECT_FALSE(watched_.trouble());
    now_ += KernelFolder::pause;
    look();
    EXPECT_EQ(documents_["ripple"].text(), "two");
}

TEST_F(KernelFolderTest, AMissingFileIsToldOnce) {
    EXPECT_NE(watched_.look(documents_).find("mine.txt can't be read"), std::string::npos);
    EXPECT_EQ(look(), "");
    write(own_, "mine");
    look();
    EXPECT_EQ(documents_["dot"].text(), "mine");
}

using KeptEditsTest = KernelFolderTest;

// Two files can have one name.
TEST_F(KeptEditsTest, EditsOfAnOpenedFileAreOfferedOnceItIsOpenAgain) {
    const fs::path kept = folder_ / "kept";
    const std::string path = "/home/me/50%/add.cu";
    {
        KernelDocuments documents;
        KeptEdits first(kept);
        KernelDocument& document = documents.open("launch/add", "a\n", path);
        document.replace("mine\n");
        first.keep(documents, KernelFolder({}, {}, ""), true);
    }
    KernelDocuments documents;
    KeptEdits second(kept);
    EXPECT_TRUE(second.offered().empty());
    documents.open("launch/add", "b\n", "/home/other/add.cu");
    second.follow(documents);
    EXPECT_TRUE(second.offered().empty());
    KernelDocument& document = documents.open("launch/add", "a\n", path);
    second.follow(documents);
    EXPECT_EQ(second.offered(), (compute::Sources{{"launch/add", "mine\n"}}));
    document.replace(second.offered().at("launch/add"));
    second.taken();
    document.set_saved(path);
    second.keep(documents, KernelFolder({}, {}, ""), true);
    KeptEdits third(kept);
    third.follow(documents);
    EXPECT_TRUE(third.offered().empty()) << "what is saved is not kept";
}

TEST_F(KeptEditsTest, EditsAreOfferedInTheNextSession) {
    const fs::path kept = root_ / "kept";
    KeptEdits first(kept);
    EXPECT_TRUE(first.offered().empty());
    write(own_, "mine");
    watched_.look(documents_);
    documents_["ripple"].replace("typed");
    first.keep(documents_, watched_, true);
    KeptEdits second(kept);
    const compute::Sources offered{{"ripple", "typed"}};  // not what comes from a file
    EXPECT_EQ(second.offered(), offered);
    KernelDocuments fresh;
    second.keep(fresh, watched_, true);
    EXPECT_EQ(KeptEdits(kept).offered(), offered);
    second.taken();
    fresh["ripple"].replace("typed");
    fresh["ripple"].replace(fresh["ripple"].shipped());
    second.keep(fresh, watched_, true);
    EXPECT_TRUE(KeptEdits(kept).offered().empty());
}

TEST_F(KeptEditsTest, AnEditIsWrittenTwoSecondsAfterTheLastChange) {
    const fs::path kept = root_ / "kept";
    KeptEdits edits(kept, [this] { return now_; });
    const auto keep_after = [&](int milliseconds) {
        now_ += std::chrono::milliseconds(milliseconds);
        edits.keep(documents_, watched_);
        return fs::exists(kept / "ripple.cu");
    };
    documents_["ripple"].replace("typed");
    EXPECT_FALSE(keep_after(0));
    EXPECT_FALSE(keep_after(1500));
    documents_["ripple"].replace("typed on");
    EXPECT_FALSE(keep_after(0));
    EXPECT_FALSE(keep_after(1999));
    EXPECT_TRUE(keep_after(1));
    EXPECT_EQ(KeptEdits(kept).offered().at("ripple"), "typed on");
}

TEST_F(KeptEditsTest, AKeptFileIsReadLikeAnyKernelSource) {
    const fs::path kept = root_ / "kept";
    fs::create_directories(kept);
    write(kept / "ripple.cu", "one\r\ntwo\r\n");
    write(kept / "dot.cu", std::string((1 << 20) + 1, 'x'));
    EXPECT_EQ(KeptEdits(kept).offered(), (compute::Sources{{"ripple", "one\ntwo\n"}}));
}

TEST_F(KeptEditsTest, AFileThatCannotBeReadIsRenamedBeforeAnEditTakesItsName) {
    const fs::path kept = root_ / "kept";
    fs::create_directories(kept);
    write(kept / "ripple.cu", std::string((1 << 20) + 1, 'x'));
    KeptEdits edits(kept);
    documents_["ripple"].replace("typed");
    edits.keep(documents_, watched_, true);
    EXPECT_EQ(fs::file_size(kept / "ripple.cu"), 5U);
    EXPECT_EQ(fs::file_size(kept / "ripple.cu~"), (1U << 20) + 1);
}

TEST_F(KeptEditsTest, DeclinedEditsAreNotOfferedAgainButKept) {
    const fs::path kept = root_ / "kept";
    documents_["ripple"].replace("old");
    KeptEdits(kept).keep(documents_, watched_, true);
    KeptEdits second(kept);
    second.decline();
    EXPECT_TRUE(second.offered().empty());
    EXPECT_TRUE(KeptEdits(kept).offered().empty());
    std::ifstream old(kept / "ripple.cu~");
    std::string text;
    old >> text;
    EXPECT_EQ(text, "old");
}

TEST_F(KeptEditsTest, AnOfferThatWasNotTakenIsNotOverwritten) {
    const fs::path kept = root_ / "kept";
    documents_["ripple"].replace("old");
    KeptEdits(kept).keep(documents_, watched_, true);
    KernelDocuments fresh;
    fresh["ripple"].replace("new");
    KeptEdits(kept).keep(fresh, watched_, true);
    EXPECT_EQ(KeptEdits(kept).offered().at("ripple"), "new");
    std::ifstream old(kept / "ripple.cu~");
    std::string text;
    old >> text;
    EXPECT_EQ(text, "old");
}

}  // namespace
}  // namespace warpscope::ui
