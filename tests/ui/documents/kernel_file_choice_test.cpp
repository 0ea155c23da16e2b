#include "ui/documents/source_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace warpscope::ui {
namespace {

class KernelFileChoiceTest : public testing::Test {
  protected:
    KernelFileChoiceTest() {
        std::filesystem::create_directories(folder_ / "kernels");
        for (const char* name : {"kernel_b.cu", "kernel_a.cu", "kernel.txt", ".hidden.cu"})
            std::ofstream(folder_ / name) << "x\r\ny\n";
    }
    ~KernelFileChoiceTest() override { std::filesystem::remove_all(folder_); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string complaint(const std::string& name) {
        try {
            read_kernel(name);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("warpscope-choice-" + std::to_string(::getpid()));
};

TEST_F(KernelFileChoiceTest, FoldersComeFirstThenKernelFiles) {
    const PathChoices all = path_choices(path(""));
    EXPECT_EQ(all.choices, (std::vector<std::string>{path("kernels/"), path("kernel_a.cu"),
                                                     path("kernel_b.cu")}));
    EXPECT_EQ(all.common, path("kernel"));
    const PathChoices some = path_choices(path("kernel_"));
    EXPECT_EQ(some.choices.size(), 2U);
    EXPECT_EQ(path_choices(path("kernels")).common, path("kernels/"));
    EXPECT_EQ(path_choices(path(".h")).choices.size(), 1U);
}

TEST_F(KernelFileChoiceTest, TheWindowListsTheKindsThatItOpens) {
    std::filesystem::create_directories(folder_ / "kinds");
    const std::vector<std::string> opened{"a.cu",  "b.launch.json", "c.wslaunch", "d.schedule",
                                          "e.PNG", "f.tipsy",       "g.csv",      "h.md",
                                          "i.MD",  "j.CU"};
    std::vector<std::string> wanted;
    for (const std::string& name : opened) {
        std::ofstream(folder_ / "kinds" / name)
            << "# L\n\n## Start\n\n- `experiment ripple`\n\n## Gate\n\n- `races == 0`: None.\n";
        wanted.push_back(path("kinds/" + name));
    }
    for (const char* name : {"README.md", "log.txt", "page.html", "trace.json"})
        std::ofstream(folder_ / "kinds" / name) << "# A page\n";
    EXPECT_EQ(path_choices(path("kinds/"), PathFiles::of_window).choices, wanted);
}

TEST_F(KernelFileChoiceTest, WithoutCompletionsThePathStaysAsItIs) {
    EXPECT_EQ(path_choices(path("nothing/here")).common, path("nothing/here"));
    EXPECT_TRUE(path_choices(path("nothing/here")).choices.empty());
    EXPECT_TRUE(path_choices(path("z")).choices.empty());
}

TEST_F(KernelFileChoiceTest, ATildeMeansTheHomeFolder) {
    const std::string before = std::getenv("HOME") ? std::getenv("HOME") : "";
    ::setenv("HOME", folder_.c_str(), 1);
    EXPECT_EQ(path_choices("~/kernel_a").choices, (std::vector<std::string>{"~/kernel_a.cu"}));
    EXPECT_EQ(read_kernel("~/kernel_a.cu"), "x\ny\n");
    ::setenv("HOME", before.c_str(), 1);
}

TEST_F(KernelFileChoiceTest, AFileThatIsNotATextIsRefusedWithASentence) {
    EXPECT_NE(complaint(path("no.cu")).find(path("no.cu")), std::string::npos);
    EXPECT_NE(complaint(path("kernels")).find("folder"), std::string::npos);
    std::ofstream(folder_ / "zero.cu") << std::string("a\0b", 3);
    EXPECT_NE(complaint(path("zero.cu")).find("bytes of value 0"), std::string::npos);
    std::ofstream(folder_ / "large.cu") << std::string((1 << 20) + 1, 'a');
    EXPECT_NE(complaint(path("large.cu")).find("larger than 1024 KiB"), std::string::npos);
    std::ofstream(folder_ / "most.cu") << std::string(1 << 20, 'a');
    EXPECT_EQ(complaint(path("most.cu")), "");
}

TEST_F(KernelFileChoiceTest, ALaunchFileIsNoSource) {
    std::ofstream(folder_ / "most.launch.json") << "{}";
    EXPECT_EQ(
        complaint(path("most.launch.json")),
        path("most.launch.json") + " is a launch file, which has no source: open it with Open.");
}

}  // namespace
}  // namespace warpscope::ui
