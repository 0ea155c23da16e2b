#include "experiments/lessons/lesson.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/source_file.h"
#include "compute/device/enum_words.h"
#include "compute/libraries/installed_files.h"
#include "experiments/framework/experiment.h"
#include "files/text.h"
#include "launches/files/file_kind.h"

namespace warpscope::experiments {
namespace {

namespace fs = std::filesystem;

/// Removes the mark of a list item, "- " or "1. ". False: the line begins none.
bool take_bullet(std::string_view& line) {
    std::size_t at = 0;
    while (at < line.size() && files::is_digit(line[at])) ++at;
    const bool numbered = at > 0 && line.substr(at).starts_with(". ");
    if (!numbered && !line.starts_with("- ")) return false;
    line.remove_prefix(numbered ? at + 2 : 2);
    return true;
}

/// Removes text in backquotes from the beginning and returns it; empty: there is none.
std::string take_quoted(std::string_view& line) {
    if (!line.starts_with('`')) return {};
    const std::size_t end = line.find('`', 1);
    if (end == std::string_view::npos) return {};
    const std::string quoted(line.substr(1, end - 1));
    line = files::trimmed(line.substr(end + 1));
    return quoted;
}

/// Without the marks of code.
std::string plain(std::string text) {
    std::erase(text, '`');
    return text;
}

/// Reads the lines of a lesson, one after the other.
class LessonReader {
  public:
    explicit LessonReader(const fs::path& file) { lesson_.file = file; }

    Lesson read(std::string_view text) {
        while (!text.empty()) {
            ++line_;
            read_line(files::trimmed(files::take_line(text)));
        }
        end_item();
        check();
        return std::move(lesson_);
    }

  private:
    enum class Part { text, start, steps, gate };

    [[noreturn]] void fail(std::string_view reason) const {
        throw LessonError(fmt::format("{}:{}: {}", lesson_.file.string(), line_, reason));
    }

    void read_line(std::string_view line) {
        if (line.starts_with("# ")) {
            lesson_.title = line.substr(2);
        } else if (line.starts_with("## ")) {
            end_item();
            part_ = part(line.substr(3));
        } else if (line.empty() || (part_ != Part::text && take_bullet(line))) {
            end_item();
            item_ = line;
        } else {
            item_ += (item_.empty() ? "" : " ") + std::string(line);
        }
    }

    Part part(std::string_view name) const {
        if (name == "Start") return Part::start;
        if (name == "Steps") return Part::steps;
        if (name == "Gate") return Part::gate;
        fail(fmt::format("the part \"{}\" is unknown; write Start, Steps or Gate", name));
    }

    /// A paragraph or an item of a list is complete.
    void end_item() {
        const std::string item = std::exchange(item_, {});
        if (item.empty()) return;
        switch (part_) {
            case Part::text:
                lesson_.text.push_back(plain(item));
                break;
            case Part::start:
                add_start(item);
                break;
            case Part::steps:
                add_step(item);
                break;
            case Part::gate:
                add_condition(item);
                break;
        }
    }

    fs::path beside(const std::string& name) const { return lesson_.file.parent_path() / name; }

    void add_start(std::string_view item) {
        const std::string words = take_quoted(item);
        const std::size_t space = std::min(words.find(' '), words.size());
        const std::string key = words.substr(0, space);
        const std::string value(files::trimmed(std::string_view(words).substr(space)));
        LessonStart& start = lesson_.start;
        if (key == "experiment")
            start.experiment = value;
        else if (key == "launch")
            start.launch = beside(value);
        else if (key == "source")
            start.source = beside(value);
        else if (key == "set" && value.find('=') != std::string::npos)
            start.values.push_back(
                {value.substr(0, value.find('=')), value.substr(value.find('=') + 1)});
        else if (key == "schedule")
            read_schedule(value);
        else if (words == "open editor")
            start.editor = true;
        else if (words == "run program")
            start.program = true;
        else
            fail(
                "write `experiment ID`, `launch FILE`, `source FILE`, `set NAME=VALUE`, `schedule "
                "WORD`, `open editor` or `run program`");
    }

    void read_schedule(const std::string& word) {
        try {
            lesson_.start.run.schedule = compute::parse<compute::Schedule>(word);
        } catch (const std::invalid_argument& error) {
            fail(error.what());
        }
    }

    /// A link to "widget:ID" names the widget of the step.
    void add_step(const std::string& item) {
        LessonStep step{.text = item, .widget = {}};
        const std::size_t target = item.find("](widget:");
        if (target != std::string::npos) {
            const std::size_t open = item.rfind('[', target), close = item.find(')', target);
            if (open == std::string::npos || close == std::string::npos)
                fail("write the link to a widget as [words](widget:ID)");
            if (item.find("](widget:", close) != std::string::npos)
                fail("a step marks one widget: write a step of its own for the second link");
            step.widget = item.substr(target + 9, close - target - 9);
            step.text = item.substr(0, open) + item.substr(open + 1, target - open - 1) +
                        item.substr(close + 1);
        }
        step.text = plain(step.text);
        step.edits = step.widget == "editor.text";
        step.switches = step.widget.starts_with(lesson_.start.experiment + ".");
        lesson_.steps.push_back(std::move(step));
    }

    void add_condition(std::string_view item) {
        const std::string expression = take_quoted(item);
        if (expression.empty() || !item.starts_with(": "))
            fail("write a condition as - `races == 0`: A sentence that says so.");
        try {
            lesson_.gate.push_back({launches::Expression(expression), std::string(item.substr(2))});
        } catch (const launches::LaunchError& error) {
            fail(error.what());
        }
    }

    void check() {
        const LessonStart& start = lesson_.start;
        if (lesson_.title.empty()) fail("a lesson begins with a title: # Mend the ripple");
        if (start.experiment.empty() == start.launch.empty())
            fail("the part Start names an experiment or a launch file");
        if (start.program && start.launch.empty())
            fail("`run program` needs a launch file, whose source has a main()");
        if (lesson_.gate.empty()) fail("the part Gate has no condition");
        if (start.experiment.empty()) return;
        try {
            find_experiment(start.experiment).make_parameters()->read(start.values);
        } catch (const ParameterError& error) {
            fail(error.what());
        }
    }

    Lesson lesson_;
    Part part_ = Part::text;
    std::string item_;
    int line_ = 0;
};

/// "mend-the-ripple" of 02-mend-the-ripple.md.
std::string name_of(const fs::path& file) {
    const std::string stem = file.stem().string();
    std::size_t at = 0;
    while (at < stem.size() && files::is_digit(stem[at])) ++at;
    return at > 0 && stem.substr(at).starts_with('-') ? stem.substr(at + 1) : stem;
}

/// `text` is that of `file`, whose folder has the files that it names. Throws LessonError.
Lesson parse_lesson(std::string_view text, const fs::path& file) {
    Lesson lesson = LessonReader(file).read(text);
    lesson.name = name_of(file);
    return lesson;
}

}  // namespace

Lesson read_lesson(const fs::path& file) {
    try {
        return parse_lesson(compiler::read_source_file(file), file);
    } catch (const LessonError&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw LessonError(fmt::format("{}: {}", file.string(), error.what()));
    }
}

std::vector<fs::path> lesson_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& one : fs::directory_iterator(folder, error))
        if (launches::file_kind(one.path()) == launches::FileKind::page &&
            one.path().filename() != "README.md")
            files.push_back(one.path());
    std::ranges::sort(files);
    return files;
}

fs::path lessons_folder() {
    return compute::shared_file("lessons");
}

fs::path find_lesson(const std::string& wish) {
    if (launches::file_kind(wish) == launches::FileKind::page) return wish;
    const std::vector<fs::path> files = lesson_files(lessons_folder());
    if (files.empty()) throw LessonError("the folder lessons/ is missing beside the app");
    std::string names;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (wish == std::to_string(i + 1) || wish == name_of(files[i])) return files[i];
        names += fmt::format("{}{}", i ? ", " : "", name_of(files[i]));
    }
    throw LessonError(
        fmt::format("\"{}\" is no lesson; write a number from 1 to {}, the path of a "
                    ".md file, or one of {}",
                    wish, files.size(), names));
}

}  // namespace warpscope::experiments
