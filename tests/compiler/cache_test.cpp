#include "compiler/cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace warpscope::compiler {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
  public:
    CacheTest() {
        std::string name = (fs::temp_directory_path() / "cache_test.XXXXXX").string();
        if (::mkdtemp(name.data())) folder_ = name;
    }
    ~CacheTest() override {
        fs::permissions(folder_, fs::perms::owner_all);
        fs::remove_all(folder_);
    }

    fs::path folder() const { return folder_ / "deep/kernels"; }
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(folder())) found.push_back(entry.path());
        return found;
    }
    static void overwrite(const fs::path& file, std::string_view bytes) {
        std::ofstream(file, std::ios::binary) << bytes;
    }
    static std::string text_of(const fs::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    fs::path folder_;
    const Request request{"kernels/ripple.cu", "a \xC0 text that is no UTF-8\n", true, false,
                          {"scale<4>"},        {{"own.h", "int own;"}}};
    const Compiled compiled{
        "ptx of it",
        {{3, 7, Severity::warning, "#1-D: watch out"}, {0, 0, Severity::note, "more"}}};
};

TEST_F(CacheTest, FindsWhatWasKept) {
    const Cache cache(folder());
    EXPECT_FALSE(cache.find(request, "13.0"));
    cache.keep(request, "13.0", compiled);
    EXPECT_EQ(cache.find(request, "13.0"), compiled);
    EXPECT_EQ(Cache(folder()).find(request, "13.0"), compiled) << "also in the next process";
    EXPECT_EQ(files().size(), 1u) << "and no temporary file is left";
}

TEST_F(CacheTest, EveryPartOfTheKeyMatters) {
    const Cache cache(folder());
    cache.keep(request, "13.0", compiled);
    EXPECT_FALSE(cache.find(request, "13.1"));
    for (const auto& change : std::vector<void (*)(Request&)>{
             [](Request& r) { r.source += ' '; }, [](Request& r) { r.file = "kernels/dot.cu"; },
             [](Request& r) { r.fast_math = false; }, [](Request& r) { r.debug_info = true; },
             [](Request& r) { r.names.clear(); }, [](Request& r) { r.names[0] = "scale<5>"; },
             [](Request& r) { r.names.emplace_back("own.h"); },
             [](Request& r) { r.headers.clear(); },
             [](Request& r) { r.headers[0].name = "other.h"; },
             [](Request& r) { r.headers[0].text += ' '; },
             // Name and text of the header as two names of kernels.
             [](Request& r) {
                 r.names.insert(r.names.end(), {r.headers[0].name, r.headers[0].text});
                 r.headers.clear();
             }}) {
        Request other = request;
        change(other);
        EXPECT_FALSE(cache.find(other, "13.0"));
    }
}

TEST_F(CacheTest, AFileWithAnotherKeyUnderThisNameIsNotUsed) {
    const Cache cache(folder());
    cache.keep(request, "13.0", compiled);
    const fs::path mine = files().at(0);
    Request other = request;
    other.source = "another";
    cache.keep(other, "13.0", {"ptx of the other", {}});
    const auto both = files();
    ASSERT_EQ(both.size(), 2u);
    const fs::path theirs = both[0] == mine ? both[1] : both[0];
    overwrite(mine, text_of(theirs));
    EXPECT_FALSE(cache.find(request, "13.0"));
    EXPECT_EQ(cache.find(other, "13.0")->ptx, "ptx of the other");
}

TEST_F(CacheTest, ADamagedFileIsDetectedAndReplaced) {
    const Cache cache(folder());
    cache.keep(request, "13.0", compiled);
    const fs::path file = files().at(0);
    const std::string whole = text_of(file);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = char(damaged[i] ^ 0x10);
        overwrite(file, damaged);
        EXPECT_FALSE(cache.find(request, "13.0")) << "byte " << i;
        overwrite(file, std::string_view(whole).substr(0, i));
        EXPECT_FALSE(cache.find(request, "13.0")) << "cut at " << i;
    }
    cache.keep(request, "13.0", compiled);
    EXPECT_EQ(cache.find(request, "13.0"), compiled);
}

/// The bytes with a right checksum in front, as whoever may write the file can make them.
std::string forged(std::string_view bytes) {
    std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
    for (const unsigned char byte : bytes) sum = (sum ^ byte) * 0x100000001b3;
    char text[17];
    std::snprintf(text, sizeof text, "%016lx", static_cast<unsigned long>(sum));
    return text + std::string(bytes);
}

TEST_F(CacheTest, AForgedFileIsNotUsed) {
    const Cache cache(folder());
    cache.keep(request, "13.0", compiled);
    const fs::path file = files().at(0);
    const std::string body = text_of(file).substr(16);
    ASSERT_EQ(text_of(file), forged(body)) << "the checksum is the one of the cache";
    std::string nested;
    for (int i = 0; i < 300000; ++i) nested += "\xa1\x61\x61";
    for (const std::string& bytes :
         {std::string(1 << 20, char(0x81)), nested, std::string(), body.substr(0, body.size() - 1),
          body + "5:a", body + "18446744073709551615:a", body + "-1:", body + ":", body + "1",
          body + "4:text", body + "9:99999999 ", std::string("0:0:0:0:0:0:")}) {
        overwrite(file, forged(bytes));
        EXPECT_FALSE(cache.find(request, "13.0")) << bytes.size() << " bytes";
    }
    cache.keep(request, "13.0", compiled);
    EXPECT_EQ(cache.find(request, "13.0"), compiled);
}

TEST_F(CacheTest, OnlyRegularFilesOfTheFolderAreRead) {
    const Cache cache(folder());
    cache.keep(request, "13.0", compiled);
    const fs::path file = files().at(0), elsewhere = folder_ / "elsewhere";
    fs::rename(file, elsewhere);
    for (const fs::path& target : {elsewhere, fs::path("/dev/zero")}) {
        fs::create_symlink(target, file);
        EXPECT_FALSE(cache.find(request, "13.0")) << "a link to " << target;
        fs::remove(file);
    }
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_FALSE(cache.find(request, "13.0")) << "a pipe without a writer";
    cache.keep(request, "13.0", compiled);
    EXPECT_EQ(cache.find(request, "13.0"), compiled);
    EXPECT_FALSE(Cache(folder(), fs::file_size(file) - 1).find(request, "13.0"))
        << "larger than the limit";
    EXPECT_TRUE(Cache(folder(), fs::file_size(file)).find(request, "13.0"));
}

TEST_F(CacheTest, TheFolderIsForItsUserAlone) {
    const Cache cache(folder());
    fs::create_directories(folder());
    fs::permissions(folder(), fs::perms(0755));
    cache.keep(request, "13.0", compiled);
    EXPECT_EQ(fs::status(folder()).permissions(), fs::perms(0700));
}

TEST_F(CacheTest, AFolderInTheCacheCountsForNothing) {
    Request other = request;
    other.source = "another";
    const Cache wide(folder());
    wide.keep(request, "13.0", compiled);
    const fs::path first = files().at(0);
    wide.keep(other, "13.0", compiled);
    std::uintmax_t both = 0;
    for (const fs::path& file : files()) both += fs::file_size(file);
    fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(1));
    fs::create_directories(folder() / "x.kernel");
    Cache(folder(), both).keep(other, "13.0", compiled);
    EXPECT_TRUE(wide.find(request, "13.0")) << "both fit";
    fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(1));
    Cache(folder(), both - 1).keep(other, "13.0", compiled);
    EXPECT_FALSE(wide.find(request, "13.0")) << "one byte less";
    EXPECT_TRUE(wide.find(other, "13.0"));
    EXPECT_TRUE(fs::exists(folder() / "x.kernel"));
}

TEST_F(CacheTest, AnUnusableFolderKeepsNothing) {
    overwrite(folder_ / "file", "in the way");
    for (const fs::path& folder : {folder_ / "file/below", fs::path("/proc/nothing"), fs::path()}) {
        const Cache cache(folder);
        cache.keep(request, "13.0", compiled);
        EXPECT_FALSE(cache.find(request, "13.0"));
    }
    // A folder has the name of the file.
    const Cache cache(folder());
    cache.keep(request, "13.0", compiled);
    const fs::path file = files().at(0);
    fs::remove(file);
    fs::create_directories(file / "full");
    cache.keep(request, "13.0", compiled);
    EXPECT_FALSE(cache.find(request, "13.0"));
    EXPECT_EQ(files().size(), 1u);
}

TEST_F(CacheTest, TheLeastRecentlyUsedEntryIsRemovedFirst) {
    const auto numbered = [&](int n) {
        Request other = request;
        other.source += std::to_string(n);
        return other;
    };
    const Compiled large{std::string(10000, 'x'), {}};
    const Cache cache(folder(), 35000);
    const auto age = [&](int hours) {
        for (const fs::path& file : files())
            fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(hours));
    };
    for (int n = 0; n < 3; ++n) {
        cache.keep(numbered(n), "13.0", large);
        age(1);
    }
    EXPECT_TRUE(cache.find(numbered(0), "13.0"));
    cache.keep(numbered(3), "13.0", large);
    EXPECT_TRUE(cache.find(numbered(0), "13.0")) << "used a moment ago";
    EXPECT_FALSE(cache.find(numbered(1), "13.0"));
    EXPECT_TRUE(cache.find(numbered(2), "13.0"));
    EXPECT_TRUE(cache.find(numbered(3), "13.0"));
    cache.keep(numbered(4), "13.0", {std::string(40000, 'x'), {}});
    EXPECT_FALSE(cache.find(numbered(4), "13.0")) << "larger than all of the cache";
    EXPECT_TRUE(cache.find(numbered(3), "13.0"));
}

TEST_F(CacheTest, SourcesThatIncludeTheUsersFilesAreNotKept) {
    const Cache cache(folder());
    for (const char* source :
         {"#include \"own.h\"\n", "#include </home/me/own.h>\n", "  #  include\t\"own.h\"",
          "#include OWN\n", "#\\\ninclude \"own.h\"", "#if __has_include(\"own.h\")\n",
          "#/**/include \"own.h\"", "#include/**/\"own.h\"", "#inc\\\nlude \"own.h\"",
          "#inc\\\r\nlude \"own.h\"", "#\vinclude \"own.h\"", "#include\f\"own.h\"",
          "%:include \"own.h\"", "#include_next \"own.h\"",
          "#include <cuda_fp16.h>\n"
          "#include <../own.h>\n"}) {
        const Request other{"kernels/ripple.cu", source};
        cache.keep(other, "13.0", compiled);
        EXPECT_FALSE(cache.find(other, "13.0")) << source;
    }
    for (const char* source :
         {"#include <cuda_fp16.h>\n", "// we include all\n", "int included;"}) {
        const Request other{"kernels/ripple.cu", source};
        cache.keep(other, "13.0", compiled);
        EXPECT_TRUE(cache.find(other, "13.0")) << source;
    }
}

TEST_F(CacheTest, SourcesThatIncludeOnlyTheirHeadersAreKept) {
    const Cache cache(folder());
    const std::vector<Header> own{{"own.h", "#include \"more.h\"\n"}, {"more.h", ""}};
    const auto kept = [&](const std::string& source, const std::vector<Header>& headers) {
        const Request other{"kernels/ripple.cu", source, false, false, {}, headers};
        cache.keep(other, "13.0", compiled);
        return cache.find(other, "13.0").has_value();
    };
    EXPECT_TRUE(kept("#include \"own.h\"\n", own));
    EXPECT_TRUE(kept("#include <own.h>\n", own));
    EXPECT_FALSE(kept("#include \"other.h\"\n", own));
    EXPECT_FALSE(kept("#include \"own.hpp\"\n", own));
    EXPECT_FALSE(kept("#include \"own.h\"\n", {own[0]})) << "its header includes another file";
}

TEST_F(CacheTest, ConcurrentReadersSeeCompleteEntries) {
    std::vector<std::jthread> threads;
    std::atomic<int> wrong{0}, found{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            const Cache cache(folder(), 4000);
            for (int i = 0; i < 100; ++i) {
                Request other = request;
                other.source = std::to_string(i % 5);
                const Compiled kept{std::string(300, other.source[0]), {}};
                cache.keep(other, "13.0", kept);
                const auto again = cache.find(other, "13.0");
                found += again.has_value();
                wrong += again && *again != kept;
            }
        });
    threads.clear();
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(found, 0);
}

TEST(CacheFolder, FollowsTheEnvironment) {
    const auto with = [](const char* xdg, const char* home) {
        const auto set = [](const char* name, const char* value) {
            value ? ::setenv(name, value, 1) : ::unsetenv(name);
        };
        const char* const cache_before = std::getenv("XDG_CACHE_HOME");
        const std::string cache = cache_before ? cache_before : "";
        const char* const home_before = std::getenv("HOME");
        const std::string old_home = home_before ? home_before : "";
        set("XDG_CACHE_HOME", xdg);
        set("HOME", home);
        const fs::path folder = Cache::default_folder();
        set("XDG_CACHE_HOME", cache_before ? cache.c_str() : nullptr);
        set("HOME", home_before ? old_home.c_str() : nullptr);
        return folder;
    };
    EXPECT_EQ(with("/x", "/home/me"), "/x/warpscope/kernels");
    EXPECT_EQ(with(nullptr, "/home/me"), "/home/me/.cache/warpscope/kernels");
    EXPECT_EQ(with("", "/home/me"), "/home/me/.cache/warpscope/kernels");
    EXPECT_EQ(with("relative", "/home/me"), "/home/me/.cache/warpscope/kernels");
    EXPECT_EQ(with(nullptr, nullptr), "");
}

}  // namespace
}  // namespace warpscope::compiler
