#include "ui/window/settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace warpscope::ui {
namespace {

class SettingsTest : public testing::Test {
  protected:
    SettingsTest() { std::filesystem::create_directories(folder_); }
    ~SettingsTest() override { std::filesystem::remove_all(folder_); }
    void put(const std::string& text) { std::ofstream(file_) << text; }

    std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                    ("warpscope-settings-" + std::to_string(::getpid()));
    std::filesystem::path file_ = folder_ / "deeper" / "settings.json";
};

Settings some() {
    Settings s;
    s.window = {1600, 900};
    s.experiment = "nbody";
    s.device = "cuda:1";
    s.run = {compute::Math::fast, compute::Schedule::reverse, 18446744073709551615ULL,
             compute::BarrierPolicy::before_volta};
    s.view.vsync = false;
    s.view.grid = true;
    s.view.right = 340;
    s.view.dock_folded = false;
    s.view.dock = "findings";
    s.view.dock_open = "banks";
    s.view.inspect = false;
    s.view.editor = true;
    s.view.editor_width = 700;
    s.view.folds = {{"nbody.Camera", true}, {"ripple.Race laboratory", false}};
    s.view.drawer = Drawer::controls;
    s.view.kernel_path = "~/kernels/life.cu";
    s.view.recent_files = {"/tmp/stars.csv", "/tmp/a \"b\" ü.png"};
    s.view.hide_results = true;
    s.view.percent = 150;
    s.view.light = true;
    s.view.lessons_passed = {"syncwarp", "bank-conflicts"};
    s.view.tour_offered = true;
    s.parameters["nbody"] = {{"bodies", "20000"}, {"file", "a \"b\" ü.csv"}};
    s.parameters["ripple"] = {{"sync", "off"}};
    return s;
}

TEST_F(SettingsTest, AreReadBackAsWritten) {
    save_settings(file_, some());
    const LoadedSettings loaded = load_settings(file_);
    EXPECT_EQ(loaded.complaint, "");
    const Settings& s = loaded.settings;
    EXPECT_EQ(s.window, (experiments::Size{1600, 900}));
    EXPECT_EQ(s.experiment, "nbody");
    EXPECT_EQ(s.device, "cuda:1");
    EXPECT_FALSE(s.view.hide_controls);
    EXPECT_TRUE(s.view.hide_results);
    EXPECT_EQ(s.view.percent, 150);
    EXPECT_TRUE(s.view.light);
    EXPECT_EQ(s.view.lessons_passed, (std::vector<std::string>{"syncwarp", "bank-conflicts"}));
    EXPECT_TRUE(s.view.tour_offered);
    EXPECT_EQ(s.run.math, compute::Math::fast);
    EXPECT_EQ(s.run.schedule, compute::Schedule::reverse);
    EXPECT_EQ(s.run.seed, 18446744073709551615ULL);
    EXPECT_EQ(s.run.barriers, compute::BarrierPolicy::before_volta);
    EXPECT_FALSE(s.view.vsync);
    EXPECT_TRUE(s.view.grid);
    EXPECT_EQ(s.view.right, 340);
    EXPECT_EQ(s.view.dock, "findings");
    EXPECT_EQ(s.view.dock_open, "banks");
    EXPECT_FALSE(s.view.inspect);
    EXPECT_TRUE(s.view.editor);
    EXPECT_EQ(s.view.editor_width, 700);
    EXPECT_FALSE(s.view.dock_folded);
    EXPECT_EQ(s.view.folds, some().view.folds);
    EXPECT_EQ(s.view.drawer, Drawer::none) << "drawers are closed at the start";
    EXPECT_EQ(s.view.kernel_path, "~/kernels/life.cu");
    EXPECT_EQ(s.view.recent_files, some().view.recent_files);
    ASSERT_EQ(s.parameters.at("nbody").size(), 2U);
    EXPECT_EQ(s.parameters.at("nbody")[1].text, "a \"b\" ü.csv");
    EXPECT_EQ(s.parameters.at("ripple")[0].id, "sync");
}

TEST_F(SettingsTest, AFileWithoutABarrierPolicyIsRead) {
    save_settings(file_, some());
    std::ifstream in(file_);
    std::string text, line;
    while (std::getline(in, line))
        if (line.find("\"barriers\"") == std::string::npos) text += line + "\n";
    put(text);
    const LoadedSettings loaded = load_settings(file_);
    EXPECT_EQ(loaded.complaint, "");
    EXPECT_EQ(loaded.settings.run.barriers, compute::BarrierPolicy::volta);
    EXPECT_EQ(loaded.settings.device, "cuda:1");
}

TEST_F(SettingsTest, ChoicesAreWrittenAsWords) {
    save_settings(file_, some());
    std::ifstream in(file_);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const char* entry :
         {"\"math\": \"fast\"", "\"schedule\": \"reverse\"", "\"barriers\": \"before-volta\""})
        EXPECT_NE(text.find(entry), std::string::npos) << entry << " in " << text;
}

TEST_F(SettingsTest, ChoicesThatAnEarlierVersionWroteAsNumbersAreRead) {
    save_settings(file_, some());
    std::ifstream in(file_);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto exchange = [&](const std::string& words, const std::string& number) {
        ASSERT_NE(text.find(words), std::string::npos) << words;
        text.replace(text.find(words), words.size(), number);
    };
    exchange("\"fast\"", "1");
    exchange("\"reverse\"", "2");
    exchange("\"before-volta\"", "1");
    put(text);
    const LoadedSettings loaded = load_settings(file_);
    EXPECT_EQ(loaded.complaint, "");
    EXPECT_EQ(loaded.settings.run, some().run);
}

TEST_F(SettingsTest, LeaveNoOtherFileInTheFolder) {
    save_settings(file_, some());
    save_settings(file_, some());
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(file_.parent_path())) {
        EXPECT_EQ(entry.path(), file_);
        ++files;
    }
    EXPECT_EQ(files, 1);
}

TEST_F(SettingsTest, AMissingFileGivesDefaultsWithoutComplaint) {
    const LoadedSettings loaded = load_settings(file_);
    EXPECT_EQ(loaded.complaint, "");
    EXPECT_EQ(loaded.settings.window, (experiments::Size{1600, 900}));
    EXPECT_EQ(load_settings({}).complaint, "");
}

TEST_F(SettingsTest, HugeNumbersAreTheEndsOfTheirRanges) {
    save_settings(file_, {});
    std::ifstream in(file_);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto replace = [&](const std::string& words, const std::string& by) {
        const std::size_t at = text.find(words);
        ASSERT_NE(at, std::string::npos) << words;
        text.replace(at, words.size(), by);
    };
    replace("1600,", "1e22,");
    replace("900\n", "-1e300\n");
    put(text);
    const LoadedSettings loaded = load_settings(file_);
    EXPECT_EQ(loaded.complaint, "");
    EXPECT_EQ(loaded.settings.window, (experiments::Size{16384, 320}));
}

TEST_F(SettingsTest, TheNameOfAFileNeedNotBeUtf8) {
    Settings settings;
    settings.view.recent_files = {"/tmp/b\xf6se.csv", "/tmp/good.csv"};
    save_settings(file_, settings);
    const LoadedSettings loaded = load_settings(file_);
    EXPECT_EQ(loaded.complaint, "");
    EXPECT_EQ(loaded.settings.view.recent_files,
              (std::vector<std::string>{"/tmp/b\xef\xbf\xbdse.csv", "/tmp/good.csv"}));
}

TEST_F(SettingsTest, ASeedThatIsNotAWholeNumberIsDamage) {
    save_settings(file_, {});
    std::ifstream in(file_);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string seed = "\"seed\": 1";
    for (const std::string number : {"1e40", "-1", "1.5"}) {
        std::string damaged = text;
        damaged.replace(text.find(seed), seed.size(), "\"seed\": " + number);
        put(damaged);
        EXPECT_NE(load_settings(file_).complaint, "") << number;
    }
}

TEST_F(SettingsTest, ADamagedFileGivesDefaultsAndASentence) {
    save_settings(file_, some());
    std::ifstream in(file_);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    std::string wrong_type = whole, wrong_choice = whole, wrong_number = whole;
    wrong_type.replace(whole.find("\"nbody\""), 7, "17");
    const std::string schedule = "\"schedule\": \"reverse\"";
    wrong_choice.replace(whole.find(schedule), schedule.size(), "\"schedule\": \"sideways\"");
    wrong_number.replace(whole.find(schedule), schedule.size(), "\"schedule\": 9");
    for (const std::string& text :
         {std::string(), whole.substr(0, whole.size() / 2), std::string("[1, 2]"), wrong_type,
          wrong_choice, wrong_number, std::string("\xff\xfe\0", 3)}) {
        put(text);
        const LoadedSettings loaded = load_settings(file_);
        EXPECT_NE(loaded.complaint.find(file_.string()), std::string::npos) << text;
        EXPECT_EQ(loaded.settings.device, "auto") << text;
        EXPECT_TRUE(loaded.settings.parameters.empty()) << text;
    }
}

TEST_F(SettingsTest, APipeInPlaceOfTheFileIsNotOpened) {
    std::filesystem::create_directories(file_.parent_path());
    ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
    const LoadedSettings loaded = load_settings(file_);
    EXPECT_NE(loaded.complaint.find(file_.string()), std::string::npos);
    EXPECT_EQ(loaded.settings.device, "auto");
}

TEST_F(SettingsTest, AFileOfMoreThanOneMebibyteIsRefused) {
    save_settings(file_, some());
    std::ofstream(file_, std::ios::app) << std::string(std::size_t(1) << 20, ' ');
    EXPECT_NE(load_settings(file_).complaint.find(file_.string()), std::string::npos);
}

TEST_F(SettingsTest, ALinkToTheFileStaysALink) {
    const auto real = folder_ / "dotfiles.json";
    std::filesystem::create_directories(file_.parent_path());
    std::ofstream(real) << "{}";
    std::filesystem::create_symlink(real, file_);
    save_settings(file_, some());
    EXPECT_TRUE(std::filesystem::is_symlink(file_));
    EXPECT_EQ(load_settings(real).settings.device, some().device);
}

TEST_F(SettingsTest, AnUnwritableFolderIsAnErrorThatNamesIt) {
    std::ofstream(folder_ / "file") << "in the way";
    const auto below_a_file = folder_ / "file" / "settings.json";
    try {
        save_settings(below_a_file, some());
        FAIL() << "wrote below a file";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find(below_a_file.string()), std::string::npos);
    }
}

TEST_F(SettingsTest, TheFileIsInTheDesktopsConfigurationFolder) {
    ::setenv("XDG_CONFIG_HOME", "/some/where", 1);
    EXPECT_EQ(settings_file(), "/some/where/warpscope/settings.json");
    ::unsetenv("XDG_CONFIG_HOME");
    ::setenv("HOME", "/home/me", 1);
    EXPECT_EQ(settings_file(), "/home/me/.config/warpscope/settings.json");
}

}  // namespace
}  // namespace warpscope::ui
