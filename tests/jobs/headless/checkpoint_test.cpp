#include "jobs/headless/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "compute/emulated/emulated_device.h"
#include "experiments/nbody/nbody.h"
#include "jobs/headless/headless.h"
#include "jobs/output/files_and_terminal.h"
#include "support/file_opens.h"

namespace warpscope::jobs {
namespace {

namespace fs = std::filesystem;
using experiments::Bodies;
using experiments::Snapshot;

class Checkpoint : public testing::Test {
  protected:
    Checkpoint() {
        std::string pattern = (fs::temp_directory_path() / "checkpointXXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        file_ = folder_ / "saved";
    }
    ~Checkpoint() override { fs::remove_all(folder_); }

    std::string read() const {
        std::ifstream in(file_, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void write(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
    /// The message that refuses the file; it has one line and names the file.
    std::string refusal() const {
        try {
            read_checkpoint(file_);
        } catch (const UsageError& e) {
            const std::string words = e.what();
            EXPECT_NE(words.find(file_.string()), words.npos);
            EXPECT_EQ(words.find('\n'), words.npos);
            return words;
        }
        return "none";
    }
    void save() {
        const auto device = compute::make_emulated_device("");
        experiments::NBody nbody(*device);
        nbody.set(std::vector<experiments::Assignment>{{"bodies", "37"}, {"dt", "0.25"}});
        nbody.step();
        nbody.step();
        write_checkpoint(file_, nbody);
        taken_ = nbody.snapshot();
    }

    fs::path folder_, file_;
    Snapshot taken_;
};

TEST_F(Checkpoint, IsReadAsItWasWritten) {
    save();
    const Snapshot read = read_checkpoint(file_);
    EXPECT_EQ(read.frame, 2u);
    EXPECT_EQ(read.changed_since_reset, taken_.changed_since_reset);
    ASSERT_EQ(read.parameters.size(), taken_.parameters.size());
    const auto& bodies = std::any_cast<const Bodies&>(read.state);
    const auto& expected = std::any_cast<const Bodies&>(taken_.state);
    ASSERT_EQ(bodies.size(), 37u);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        EXPECT_EQ(bodies[i].position, expected[i].position);
        EXPECT_EQ(bodies[i].velocity, expected[i].velocity);
        EXPECT_EQ(bodies[i].mass, expected[i].mass);
    }
}

TEST_F(Checkpoint, ThatIsNotWholeIsRefused) {
    save();
    const std::string whole = read();
    for (const std::size_t size : {whole.size() - 1, whole.find('\n') + 1, whole.find('\n')}) {
        write(whole.substr(0, size));
        EXPECT_NE(refusal().find("number of bodies"), std::string::npos) << size;
    }
    write(whole + "x");
    EXPECT_NE(refusal().find("number of bodies"), std::string::npos);
    write(whole.substr(0, 20));
    EXPECT_NE(refusal().find("no checkpoint"), std::string::npos);
}

TEST_F(Checkpoint, OfAnotherFormatIsRefused) {
    EXPECT_NE(refusal().find("No such file"), std::string::npos);
    for (const char* text :
         {"", "x,y,z\n", "[1]\n", "{}\n", R"({"format":"warpscope checkpoint 2"})"}) {
        write(text);
        EXPECT_NE(refusal().find("no checkpoint"), std::string::npos) << text;
    }
    write(R"({"format":"warpscope checkpoint 1","frame":-1,"bodies":"many"})"
          "\n");
    EXPECT_NE(refusal().find("damaged"), std::string::npos);
}

TEST_F(Checkpoint, APipeOrADeviceThatNeverEndsIsRefused) {
    fs::create_symlink("/dev/zero", file_);
    EXPECT_NE(refusal().find("it is not a regular file"), std::string::npos);
    fs::remove(file_);
    ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
    EXPECT_NE(refusal().find("it is not a regular file"), std::string::npos);
}

TEST_F(Checkpoint, ARunThatResumesReadsItOnce) {
    save();
    FileOpens opens(file_);
    compute::Helpers helpers(WARPSCOPE);
    HeadlessRequest request{.experiment = "nbody"};
    request.resume = file_;
    request.frames = 1;
    request.json = folder_ / "result.json";
    const auto painter = [](const Shot&) -> Presentation { return {}; };
    EXPECT_EQ(run_headless(helpers, compute::make_emulated_device(""), request, painter), 0);
    EXPECT_EQ(opens.count(), 1);
}

TEST_F(Checkpoint, ResumesWithItsOwnBodies) {
    const Snapshot from{.parameters = {{"bodies", "37"}, {"dt", "0.25"}}};
    const auto all = resumed_assignments(from, {{"dt", "0.5"}});
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all.back().text, "0.5");
    EXPECT_THROW(resumed_assignments(from, {{"seed", "2"}}), UsageError);
}

}  // namespace
}  // namespace warpscope::jobs
