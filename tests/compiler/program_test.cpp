#include "compiler/programs/program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "compiler/host/host_code.h"
#include "compiler/nvrtc_output.h"
#include "compiler/programs/nvcc.h"

namespace warpscope::compiler {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

void write_program(const fs::path& file, const std::string& text) {
    write(file, "#!/bin/sh\n" + text);
    fs::permissions(file, fs::perms::owner_all);
}

/// A folder for a test, with an environment in which nothing of this system is found.
class Folder : public testing::Test {
  protected:
    Folder() {
        std::string name = (fs::temp_directory_path() / "program_test-XXXXXX").string();
        path = ::mkdtemp(name.data());
        for (const char* variable : {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "NVCC_APPEND_FLAGS"})
            set(variable, "");
        set("XDG_DATA_HOME", path / "data");
        set("XDG_CACHE_HOME", path / "cache");
        set("PATH", path / "bin");
        write_program(path / "bin/g++", "");
    }
    ~Folder() override {
        for (const auto& [name, value] : before_)
            value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
        fs::remove_all(path);
    }

    void set(const std::string& name, const std::string& value) {
        const char* const old = std::getenv(name.c_str());
        before_.try_emplace(name, old ? std::optional<std::string>(old) : std::nullopt);
        ::setenv(name.c_str(), value.c_str(), 1);
    }

    fs::path path;

  private:
    std::map<std::string, std::optional<std::string>> before_;
};

using FindNvcc = Folder;

TEST_F(FindNvcc, TheOneOnThePathComesBeforeThatOfAToolkit) {
    for (const fs::path& nvcc : {path / "bin/nvcc", path / "toolkit/bin/nvcc"})
        write_program(nvcc, "");
    set("CUDA_HOME", path / "toolkit");
    EXPECT_EQ(find_nvcc().program, path / "bin/nvcc");
    fs::remove(path / "bin/nvcc");
    EXPECT_EQ(find_nvcc().program, path / "toolkit/bin/nvcc");
}

TEST_F(FindNvcc, ThoseOfPythonAndTheDownloadedOneComeLast) {
    if (fs::exists("/usr/local/cuda/bin/nvcc") || fs::exists("/opt/cuda/bin/nvcc"))
        GTEST_SKIP() << "a CUDA Toolkit is in its usual folder";
    const fs::path wheel = path / "venv/lib/python3.12/site-packages/nvidia/cu13/bin/nvcc";
    const fs::path fetched = path / "data/warpscope/nvcc/bin/nvcc";
    for (const fs::path& nvcc : {wheel, fetched}) write_program(nvcc, "");
    set("VIRTUAL_ENV", path / "venv");
    EXPECT_EQ(find_nvcc().program, wheel);
    fs::remove(wheel);
    EXPECT_EQ(find_nvcc().program, fetched);
}

TEST_F(FindNvcc, APackageOfPyPIHasItsLibrariesInLib) {
    set("CUDA_HOME", path / "cu13");
    write_program(path / "cu13/bin/nvcc", "");
    EXPECT_EQ(find_nvcc().libraries, "");
    write(path / "cu13/lib/libcudart_static.a", "");
    EXPECT_EQ(find_nvcc().libraries, path / "cu13/lib");
}

TEST_F(FindNvcc, WithoutGxxItSaysWhichPackageToInstall) {
    write_program(path / "bin/nvcc", "");
    fs::remove(path / "bin/g++");
    try {
        find_nvcc();
        FAIL();
    } catch (const NoCompiler& none) {
        EXPECT_STREQ(none.what(),
                     "g++ is not installed, which nvcc needs: install the package g++");
    }
}

TEST(Words, BlanksSeparateThemAndQuotesKeepThemTogether) {
    EXPECT_EQ(words_of("  -DN=5  b.cu\t'-DTEXT=a b' -I\"two words\" \"\" "),
              (std::vector<std::string>{"-DN=5", "b.cu", "-DTEXT=a b", "-Itwo words", ""}));
}

TEST_F(Folder, OptionsStandInACommentOnOneOfTheFirstLines) {
    write(path / "source/more.cu", "");
    fs::create_directories(path / "source/include");
    const std::string source =
        "// Adds two vectors.\n"
        "//nvcc: -lcublas more.cu -Iinclude -Imissing\n"
        "int nvcc = 1;  // nvcc: -Dignored\n";
    const fs::path folder = path / "source";
    EXPECT_EQ(options_in(source, folder),
              (std::vector<std::string>{"-lcublas", (folder / "more.cu").string(),
                                        "-I" + (folder / "include").string(), "-Imissing"}));
    EXPECT_TRUE(options_in(std::string(20, '\n') + "// nvcc: -DN\n", folder).empty());
}

TEST(HasMain, NamesTheFunctionAndNotItsUses) {
    EXPECT_TRUE(has_main("__global__ void k() {}\nint main(int argc, char** argv)\n{\n}"));
    EXPECT_TRUE(has_main("auto main() -> int { return 0; }"));
    EXPECT_TRUE(has_main("#if A\nint main() {\n#else\nint main(void) {\n#endif\n}"));
    EXPECT_FALSE(has_main("__global__ void main_kernel() {}"));
    EXPECT_FALSE(has_main("// int main() {}\nconst char* text = \"int main() {}\";"));
    EXPECT_FALSE(has_main("void domain() {} /* main */ int x = main;"));
}

TEST(NvccLog, GxxAndTheLinkerNameLinesAndColumns) {
    const Request source{"/x/app.cu", "one\ntwo\n"};
    EXPECT_EQ(
        read_log("/x/app.cu:2:10: fatal error: none.h: No such file or directory\n"
                 "    2 | #include \"none.h\"\n"
                 "      |          ^~~~~~~~\n"
                 "compilation terminated.\n",
                 source),
        (std::vector<Diagnostic>{{2, 10, Severity::error, "none.h: No such file or directory"}}));
    EXPECT_EQ(read_log("/usr/bin/ld: /tmp/app.o: in function `main':\n"
                       "/x/app.cu:1: undefined reference to `g(int)'\n"
                       "/x/b.cu:7:(.text+0x1c): undefined reference to `h()'\n"
                       "(.text+0x17): undefined reference to `main'\n"
                       "collect2: error: ld returned 1 exit status\n",
                       source),
              (std::vector<Diagnostic>{
                  {1, 0, Severity::error, "undefined reference to `g(int)'"},
                  {0, 0, Severity::error, "/x/b.cu:7:(.text+0x1c): undefined reference to `h()'"},
                  {0, 0, Severity::error, "undefined reference to `main'"}}));
}

/// A fake of nvcc: it writes its arguments into the file "calls", and a program that is empty.
/// Words in the source choose what it says.
class CompileProgram : public Folder {
  protected:
    CompileProgram() {
        set("PATH", (path / "bin").string() + ":/usr/bin:/bin");
        write_program(path / "bin/nvcc", R"(
echo "$*" >>")" + (path / "calls").string() +
                                             R"("
for word; do
    case $before in -o) program=$word ;; -odir) folder=$word ;; esac
    before=$word
done
if [ -n "$program" ]; then
    echo '#!/bin/sh' >"$program"
elif grep -q "needs 90" "$word" && case $* in *compute_90*) false ;; esac; then
    echo "$word(1): error: this is not supported before SM_90"
    exit 1
elif grep -q "bad" "$word"; then
    echo "$word(2): error: bad"
    exit 1
else
    header=$(dirname "$word")/two\\\ words.h
    printf 'app.o : %s \\\n    %s\n' "$word" "$header" >"$folder/app.d"
    echo "$word(1): warning #1-D: careful"
fi
)");
        write(source.file = path / "app.cu", "int main() {}\n");
        write(path / "two words.h", "1");
    }
    /// The calls of nvcc since the last time.
    std::vector<std::string> calls() {
        std::ifstream in(path / "calls");
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        fs::remove(path / "calls");
        return lines;
    }

    ProgramSource source;
};

TEST_F(CompileProgram, AProgramIsKeptUntilOneOfItsFilesChanges) {
    const CompiledProgram made = compile_program(source);
    EXPECT_EQ(made.executable.filename(), "app");
    EXPECT_NE(made.warnings.find("careful"), std::string::npos);
    EXPECT_EQ(calls().size(), 2u);  // to compile and to link
    EXPECT_EQ(compile_program(source).executable, made.executable);
    EXPECT_EQ(compile_program(source).warnings, "");
    EXPECT_EQ(calls().size(), 0u);
    write(path / "two words.h", "2");
    EXPECT_EQ(compile_program(source).executable, made.executable);
    EXPECT_EQ(calls().size(), 2u);
    write(source.file, "int main() { }\n");
    EXPECT_NE(compile_program(source).executable, made.executable);
    EXPECT_EQ(calls().size(), 2u);
    source.options = {"-DN"};
    compile_program(source);
    EXPECT_EQ(calls().size(), 2u);
}

TEST_F(CompileProgram, ItIsCompiledForTheOldestTargetThatHasWhatItUses) {
    const auto target = [&](const std::string& text) {
        write(source.file, text);
        compile_program(source);
        const std::vector<std::string> all = calls();
        const std::size_t at = all.at(all.size() - 2).find("code=compute_");
        return all.at(all.size() - 2).substr(at + 13, 2);
    };
    EXPECT_EQ(target("int main() {}"), "75");
    EXPECT_EQ(target("int main() { __pipeline_commit(); }"), "80");
    EXPECT_EQ(target("int main() {}  // needs 90"), "90");
}

TEST_F(CompileProgram, ATargetThatAPersonChoosesStays) {
    source.options = {"-arch=sm_86"};
    compile_program(source);
    for (const std::string& call : calls()) EXPECT_EQ(call.find("-gencode"), std::string::npos);
}

TEST_F(CompileProgram, TheSharedRuntimeOfAPackageOfPyPIIsFoundByTheLinkerAndByTheProgram) {
    const fs::path cu13 = path / "cu13";
    fs::create_directories(cu13 / "bin");
    fs::rename(path / "bin/nvcc", cu13 / "bin/nvcc");
    set("CUDA_HOME", cu13);
    for (const char* name : {"libcudart_static.a", "libcudart.so.13"})
        write(cu13 / "lib" / name, "");
    const CompiledProgram made = compile_program(source);
    const std::string link = calls().at(1);
    EXPECT_NE(link.find("-L" + (cu13 / "lib").string()), std::string::npos);
    EXPECT_NE(link.find("-Xlinker -rpath=" + (cu13 / "lib").string()), std::string::npos);
    EXPECT_NE(link.find("-L" + made.executable.parent_path().string() + "."), std::string::npos);
    EXPECT_FALSE(fs::is_symlink(made.executable.parent_path() / "libcudart.so"));
}

TEST_F(CompileProgram, AnErrorNamesTheFileAsThePersonDoes) {
    write(source.file, "int main() {}\nbad\n");
    const fs::path before = fs::current_path();
    fs::current_path(path);
    source.file = "app.cu";
    try {
        compile_program(source);
        ADD_FAILURE();
    } catch (const CompileError& error) {
        EXPECT_STREQ(error.what(), "app.cu:2: bad");
        EXPECT_EQ(error.diagnostics.at(0).line, 2);
    }
    fs::current_path(before);
    // What was begun is removed.
    EXPECT_TRUE(fs::is_empty(path / "cache/warpscope/executables"));
}

}  // namespace
}  // namespace warpscope::compiler
