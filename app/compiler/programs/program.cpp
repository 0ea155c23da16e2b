#include "compiler/programs/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <map>

#include "compiler/cache.h"
#include "compiler/host/host_code.h"
#include "compiler/nvrtc.h"
#include "compiler/nvrtc_output.h"
#include "compiler/programs/nvcc.h"
#include "compiler/source_file.h"
#include "files/regular_file.h"
#include "files/text.h"

namespace warpscope::compiler {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

/// The programs that are kept: those that were used last.
constexpr std::size_t most_programs = 64;
constexpr std::size_t largest_input = std::size_t(1) << 28;
/// The list of the files that a program was made of, beside it.
constexpr const char *list_of_inputs = "inputs", *ptx_extension = ".ptx";

/// The folder of all programs that are kept. Throws std::runtime_error where there is none.
fs::path folder_of_programs() {
    const fs::path cache = Cache::default_folder();
    if (cache.empty())
        throw std::runtime_error(
            "set HOME or XDG_CACHE_HOME: compiled programs are kept in a folder there");
    return cache.parent_path() / "executables";
}

std::uint64_t hash_of(const fs::path& file) {
    return content_hash(files::RegularFile(file).read(largest_input));
}

/// A file by its name, its size and its time: for compilers, which are large.
std::string version_of(const fs::path& file) {
    const fs::path path = fs::canonical(file);
    return fmt::format("{} {} {}", path.string(), fs::file_size(path),
                       fs::last_write_time(path).time_since_epoch().count());
}

/// The files that a rule for make names behind its colon: "app.o : app.cu \<newline> a\ b.h".
std::vector<fs::path> prerequisites(std::string_view rule) {
    rule.remove_prefix(std::min(rule.find(" : "), rule.size()));
    rule.remove_prefix(std::min<std::size_t>(3, rule.size()));
    Words words(1);
    for (std::size_t i = 0; i < rule.size(); ++i) {
        const bool escapes = rule[i] == '\\' && i + 1 < rule.size();
        if (escapes && rule[i + 1] == ' ')
            words.back() += rule[++i];
        else if (escapes && rule[i + 1] == '\n')
            ++i;
        else if (rule[i] != ' ' && rule[i] != '\n')
            words.back() += rule[i];
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return {words.begin(), words.end()};
}

bool is_source(const fs::path& word) {
    constexpr const char* endings[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};
    return std::ranges::find(endings, word.extension().string()) != std::end(endings);
}

bool is_file(const std::string& word) {
    std::error_code error;
    return !word.starts_with('-') && fs::is_regular_file(word, error);
}

/// A person has chosen what nvcc compiles for.
bool names_target(const Words& options) {
    return std::ranges::any_of(options, [](const std::string& word) {
        constexpr const char* names[] = {
            "-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code"};
        return std::ranges::any_of(names, [&](const char* name) { return word.starts_with(name); });
    });
}

/// The command with its temporary files in a folder.
Words with_temporary(Words command, const fs::path& folder) {
    command.insert(command.begin(), {"env", "TMPDIR=" + folder.string()});
    return command;
}

/// What a program is made of, and by what.
class Build {
  public:
    Build(const ProgramSource& source, RunCompiler run)
        : shown_(source.file.string()),
          file_(fs::absolute(source.file).lexically_normal()),
          run_(std::move(run)),
          target_(source.target),
          makes_unoptimized_(source.unoptimized) {
        try {
            text_ = read_source_file(file_);
        } catch (const std::runtime_error& error) {
            throw std::runtime_error(fmt::format("{}: {}", shown_, error.what()));
        }
        nvcc_ = find_nvcc();
        options_ = source.options;
        for (std::string& word : options_in(text_, file_.parent_path()))
            options_.push_back(std::move(word));
    }

    /// Where the program is kept.
    fs::path folder() const {
        std::string key = fmt::format("program 1\n{}\n{}\n{}\n{}\n", file_.string(), text_,
                                      version_of(nvcc_.program), version_of(nvcc_.host));
        for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH"})
            key += environment(name) + "\n";
        key += fmt::format("{} {} {}\n", target_, makes_unoptimized_,
                           options_.empty() ? "" : fs::current_path().string());
        for (const std::string& word : options_) key += word + "\n";
        return folder_of_programs() / fmt::format("{:016x}", content_hash(key));
    }
    std::string name() const { return file_.stem().string(); }

    /// Makes the program in this folder, and the list of its files. Returns what nvcc has printed.
    std::string make(const fs::path& folder) {
        const bool is_chosen = names_target(options_);
        unsigned target = target_ ? target_ : guessed_target();
        std::string printed;
        try {
            printed = make_for(is_chosen ? 0 : target, folder);
        } catch (const CompileError& error) {
            unsigned newer = 0;
            for (const Diagnostic& one : error.diagnostics)
                newer = std::max(newer, target_named_in(one.text));
            if (is_chosen || target_ || newer <= target) throw;
            printed = make_for(newer, folder);
        }
        write_inputs(folder);
        return printed;
    }

  private:
    std::vector<fs::path> folders_of_headers() const {
        std::vector<fs::path> folders;
        for (const std::string& word : options_)
            if (word.starts_with("-I") && word.size() > 2) folders.emplace_back(word.substr(2));
        return folders;
    }
    unsigned guessed_target() const {
        try {
            std::string all;
            for (const OwnFile& file : own_files(text_, file_, folders_of_headers()))
                all += file.text + "\n";
            return target_of(all);
        } catch (const std::runtime_error&) {  // the headers are too large
            return target_of(text_);
        }
    }

    /// `target` 0: the options name it.
    std::string make_for(unsigned target, const fs::path& folder) const {
        Words flags{nvcc_.program.string()}, sources{file_.string()};
        if (target)
            flags.push_back(fmt::format("-gencode=arch=compute_{0},code=compute_{0}", target));
        Words link = flags;
        link.insert(link.end(), {"-g", "-lineinfo"});
        for (const std::string& word : options_) {
            const bool is_input = is_file(word);
            if (is_input && is_source(word)) sources.push_back(fs::absolute(word).string());
            if (!is_input) flags.push_back(word);
            if (!is_input || !is_source(word)) link.push_back(word);
        }
        // All threads compile: the passes for the host and for the device, and several sources.
        Words compile = flags;
        compile.insert(compile.end(),
                       {"-g", "-lineinfo", "-t", "0", "-c", "-MD", "-odir", folder.string()});
        compile.insert(compile.end(), sources.begin(), sources.end());
        std::future<void> beside;
        if (makes_unoptimized_)
            beside = std::async(std::launch::async, [&] { make_ptx(flags, sources, folder); });
        std::string printed = run(std::move(compile), folder);
        for (const std::string& source : sources)
            link.push_back((folder / fs::path(source).stem()).string() + ".o");
        if (!nvcc_.libraries.empty()) add_libraries(link, folder);
        link.insert(link.end(), {"-o", (folder / name()).string()});
        printed += run(std::move(link), folder);
        if (beside.valid()) beside.get();
        return printed;
    }

    /// Has the linker find the CUDA runtime of a package of PyPI, and the program too: such
    /// packages have libcudart.so.13 and no libcudart.so, which "-cudart shared" asks for.
    void add_libraries(Words& link, const fs::path& folder) const {
        link.push_back("-L" + nvcc_.libraries.string());
        std::error_code is_there;
        for (const auto& entry : fs::directory_iterator(nvcc_.libraries)) {
            if (!entry.path().filename().string().starts_with("libcudart.so.")) continue;
            fs::create_symlink(entry.path(), folder / "libcudart.so", is_there);
            link.insert(link.end(),
                        {"-L" + folder.string(), "-Xlinker", "-rpath=" + nvcc_.libraries.string()});
            break;
        }
    }

    /// Makes the PTX of each source without optimization. What nvcc says of the program itself is
    /// enough for people, so that failures leave out the PTX only.
    void make_ptx(const Words& flags, const Words& sources, const fs::path& folder) const {
        for (const std::string& source : sources) {
            Words command = flags;
            const fs::path ptx = folder / fs::path(source).stem().concat(ptx_extension);
            command.insert(command.end(), {"-G", "-ptx", source, "-o", ptx.string()});
            (void)run_(with_temporary(std::move(command), folder), folder);
        }
    }

    std::string run(Words command, const fs::path& folder) const {
        Ended ended = run_(with_temporary(std::move(command), folder), folder);
        if (!ended.done()) fail(ended.output);
        return std::move(ended.output);
    }

    [[noreturn]] void fail(const std::string& log) const {
        std::vector<Diagnostic> found = read_log(log, {file_.string(), text_});
        // The passes for the host and for the device may say the same.
        for (auto one = found.begin(); one != found.end();)
            one = std::find(found.begin(), one, *one) == one ? one + 1 : found.erase(one);
        const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::error; };
        if (std::ranges::none_of(found, is_error)) {
            std::string_view left = log, last = "it ended without a message";
            while (!left.empty())
                if (const std::string_view line = files::take_line(left); !line.empty())
                    last = line;
            found.push_back({0, 0, Severity::error, fmt::format("nvcc: {}", clean(last))});
        }
        for (Diagnostic& one : found)
            if (one.text.starts_with("undefined reference to `main'"))
                one.text =
                    "it has no main(), so that it is no program: run its kernels with --launch";
        const Diagnostic& first = *std::ranges::find_if(found, is_error);
        const std::string what = place_and_text({shown_, {}}, first);
        throw CompileError(what, std::move(found));
    }

    void write_inputs(const fs::path& folder) const {
        std::map<std::string, std::uint64_t> inputs;
        const auto add = [&](const fs::path& file) {
            inputs[fs::absolute(file).string()] = hash_of(file);
        };
        std::vector<fs::path> intermediate;
        for (const auto& entry : fs::directory_iterator(folder)) {
            const fs::path& path = entry.path();
            if (path.extension() == ".d")
                for (const fs::path& file :
                     prerequisites(files::RegularFile(path).read(largest_input)))
                    add(file);
            if (path.filename() != name() && path.extension() != ptx_extension)
                intermediate.push_back(path);
        }
        for (const std::string& word : options_)
            if (is_file(word)) add(word);
        std::string list;
        for (const auto& [path, hash] : inputs) list += fmt::format("{:016x} {}\n", hash, path);
        for (const fs::path& path : intermediate) fs::remove_all(path);
        files::write_whole_file(folder / list_of_inputs, list);
        fs::permissions(folder / name(), fs::perms::owner_all);
    }

    const std::string shown_;
    const fs::path file_;
    const RunCompiler run_;
    const unsigned target_;
    const bool makes_unoptimized_;
    std::string text_;
    Nvcc nvcc_;
    Words options_;
};

/// Whether a program is there and its files are as they were when it was made.
bool is_kept(const fs::path& folder, const std::string& name) {
    try {
        if (!fs::exists(folder / name)) return false;
        const std::string list = files::RegularFile(folder / list_of_inputs).read(largest_input);
        for (std::string_view left = list; !left.empty();) {
            const std::string_view line = files::take_line(left);
            const std::string hash = fmt::format("{:016x}", hash_of(line.substr(17)));
            if (hash != line.substr(0, 16)) return false;
        }
        std::error_code ignored;
        fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

/// Removes the programs that were used least recently, and what compilers left that were killed.
void remove_old(const fs::path& all) {
    std::vector<std::pair<fs::file_time_type, fs::path>> programs;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(all, error))
        programs.emplace_back(entry.last_write_time(error), entry.path());
    std::ranges::sort(programs, std::greater());
    for (std::size_t i = most_programs; i < programs.size(); ++i)
        fs::remove_all(programs[i].second, error);
}

/// A folder in which a program is made. It is removed unless the program is kept.
class Workplace {
  public:
    explicit Workplace(const fs::path& beside) {
        std::string name = beside.string() + ".XXXXXX";
        if (!::mkdtemp(name.data()))
            throw std::runtime_error(
                fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
        path_ = name;
    }
    ~Workplace() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    const fs::path& path() const { return path_; }

    /// Another process may have made the same program meanwhile.
    void become(const fs::path& folder) {
        fs::remove_all(folder);
        std::error_code error;
        fs::rename(path_, folder, error);
        if (error && !fs::exists(folder)) throw fs::filesystem_error("rename", folder, error);
    }

  private:
    fs::path path_;
};

}  // namespace

CompiledProgram compile_program(const ProgramSource& source, const RunCompiler& run,
                                const std::stop_token& stop) {
    const RunCompiler unconfined = [&](Words command, const fs::path&) {
        return run_command(std::move(command), stop);
    };
    Build build(source, run ? run : unconfined);
    const fs::path folder = build.folder();
    CompiledProgram made{folder / build.name(), {}};
    if (is_kept(folder, build.name())) return made;
    make_private(folder.parent_path());
    Workplace workplace(folder);
    made.warnings = build.make(workplace.path());
    workplace.become(folder);
    remove_old(folder.parent_path());
    return made;
}

}  // namespace warpscope::compiler
