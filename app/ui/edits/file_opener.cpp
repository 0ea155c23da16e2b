#include "ui/edits/file_opener.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "compute/device/enum_words.h"
#include "compute/device/number_text.h"
#include "experiments/bodies/bodies_file.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/launch_plan.h"
#include "experiments/launch/open_launch.h"
#include "experiments/nbody/nbody_parameters.h"
#include "files/regular_file.h"
#include "gl/png.h"
#include "launches/files/file_kind.h"
#include "ui/documents/kernel_documents.h"
#include "ui/documents/source_files.h"
#include "ui/edits/program_opener.h"
#include "ui/language/language.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {

namespace fs = std::filesystem;

namespace {

constexpr const char* what_opens = tr_later(
    "Warpscope opens bodies (tipsy or CSV), kernels (.cu), launch files (.launch.json), captures "
    "(folders or .wslaunch), orders of warps (.schedule), lessons (.md) and PNG files that it "
    "saved.");

const std::string* find(const experiments::Metadata& metadata, std::string_view keyword) {
    const auto found = std::find_if(metadata.begin(), metadata.end(),
                                    [&](const auto& one) { return one.first == keyword; });
    return found == metadata.end() ? nullptr : &found->second;
}

std::vector<std::uint8_t> read_bytes(const std::string& path) {
    constexpr std::size_t most = std::size_t(1) << 28;
    const std::string bytes = files::RegularFile(path).read(most + 1);
    if (bytes.size() > most) throw std::runtime_error(tr("it is too large"));
    return {bytes.begin(), bytes.end()};
}

void read_launch(OpenedFile& file, launches::LaunchFile launch) {
    file.kind = OpenedFile::Kind::launch;
    file.kernel = launch.built_in ? experiments::read_launch_source(launch)
                                  : read_kernel(launch.in_folder(launch.source).string());
    file.order = experiments::read_schedule(launch);
    file.launch = std::move(launch);
}

void read_launch_of_picture(OpenedFile& file) {
    const std::string* launch = find(file.metadata, "launch file");
    if (!launch)
        throw std::runtime_error(
            tr("Cannot open {}: its launch was not saved. Open its source, NAME.cu.", file.path));
    if (experiments::in_gallery(*launch))
        return read_launch(file, experiments::gallery_file(*launch));
    if (!fs::exists(*launch))
        throw std::runtime_error(
            tr("Cannot open {}: its launch file {} is missing.", file.path, *launch));
    read_launch(file, launches::read_launch_file(*launch));
}

void read_picture(OpenedFile& file) {
    const auto complain = [&](const std::string& why) {
        return std::runtime_error(tr("Cannot open {}: {}", file.path, why));
    };
    try {
        file.metadata = gl::read_png_metadata(read_bytes(file.path));
    } catch (const std::runtime_error& error) {
        throw complain(compute::sentence(error.what()));
    }
    const std::string* software = find(file.metadata, "Software");
    const std::string* id = find(file.metadata, "experiment");
    if (!software || *software != "Warpscope" || !id)
        throw complain(tr("it holds no settings, since Warpscope has not saved it."));
    const std::string prefix = *id + ".";
    for (const auto& [keyword, text] : file.metadata)
        if (keyword.starts_with(prefix))
            file.parameters.push_back({keyword.substr(prefix.size()), text});
    if (const std::string* frame = find(file.metadata, "frame")) file.frame = *frame;
    try {
        run_settings(file.metadata, {});
        file.entry = &experiments::find_experiment(*id);
        if (!file.entry->compile) file.entry->make_parameters()->parse(file.parameters);
    } catch (const std::invalid_argument& error) {
        throw complain(tr("its settings are not of this version: {}.", error.what()));
    }
    if (file.entry->compile) read_launch_of_picture(file);
    for (const auto& [keyword, text] : file.metadata) {
        if (!keyword.starts_with("kernels/") || !keyword.ends_with(".cu")) continue;
        const std::string kernel = keyword.substr(8, keyword.size() - 11);
        if (!KernelDocuments::shipped(kernel).empty()) file.sources[kernel] = text;
    }
}

void read_bodies(OpenedFile& file) {
    try {
        constexpr auto most = std::size_t(experiments::NBodyParameters::most_bodies);
        file.bodies = experiments::load_bodies(file.path, most).bodies.size();
    } catch (const experiments::BodiesFileError& error) {
        throw std::runtime_error(
            tr("Cannot open {} {}", compute::sentence(error.what()), tr(what_opens)));
    }
}

std::string name_of(const OpenedFile& file) {
    return std::filesystem::path(file.path).filename().string();
}

}  // namespace

OpenedFile read_file(const std::string& path) {
    OpenedFile file;
    const launches::FileKind kind = launches::file_kind(path);
    try {
        file.path = fs::absolute(with_home(path)).lexically_normal().string();
        using launches::FileKind;
        if (kind == FileKind::source || kind == FileKind::launch_file || kind == FileKind::json ||
            kind == FileKind::capture || fs::exists(fs::path(file.path) / "program.json")) {
            read_launch(file, experiments::find_launch_file(file.path));
        } else if (kind == FileKind::picture) {
            file.kind = OpenedFile::Kind::picture;
            read_picture(file);
        } else if (kind == FileKind::order) {
            file.kind = OpenedFile::Kind::order;
            const std::vector<std::uint8_t> bytes = read_bytes(file.path);
            file.order = std::make_shared<emulator::ScheduleFile>(emulator::ScheduleFile::parse(
                {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.path));
        } else {
            read_bodies(file);
        }
    } catch (const std::exception& error) {
        const std::string absolute = file.path;
        file = {};
        file.path = absolute;
        file.error = error.what();
    }
    return file;
}

compute::RunSettings run_settings(const experiments::Metadata& metadata,
                                  const compute::RunSettings& base) {
    compute::RunSettings run = base;
    if (const auto* text = find(metadata, "math")) run.math = compute::parse<compute::Math>(*text);
    if (const auto* text = find(metadata, "schedule"))
        run.schedule = compute::parse<compute::Schedule>(*text);
    run.turns.reset();
    if (const auto* text = find(metadata, "schedule file"))
        run.turns = std::make_shared<emulator::ScheduleFile>(
            emulator::ScheduleFile::parse(*text, "the schedule in the picture"));
    if (const auto* text = find(metadata, "barriers"))
        run.barriers = compute::parse<compute::BarrierPolicy>(*text);
    if (const auto* text = find(metadata, "landing"))
        run.landing = compute::parse<compute::Landing>(*text);
    if (const auto* text = find(metadata, "seed")) {
        const char* const end = text->data() + text->size();
        if (std::from_chars(text->data(), end, run.seed).ptr != end || text->empty())
            throw std::invalid_argument(tr("the seed {} is no whole number", *text));
    }
    return run;
}

void FileOpener::open(std::string path) {
    if (launches::file_kind(path) == launches::FileKind::page && open_lesson)
        return open_lesson(fs::absolute(with_home(path)).lexically_normal());
    const std::string absolute = fs::absolute(with_home(path)).lexically_normal();
    if (open_program && launches::is_program_source(absolute)) {
        remember(absolute);
        return open_program(absolute);
    }
    waiting_.push_back(std::move(path));
    advance();
}

void FileOpener::open_part_of_program(const std::string& path) {
    if (fs::is_directory(path)) launches_ = path;
    waiting_.push_back(path);
    advance();
}

std::vector<fs::path> FileOpener::states() const {
    const bool of_window = picture_.empty();
    std::vector<fs::path> pictures;
    std::error_code error;
    for (const auto& one :
         fs::directory_iterator(of_window ? screenshots_ : picture_.parent_path(), error)) {
        const fs::path& path = one.path();
        const bool counts = !of_window || path.filename().string().starts_with("warpscope-");
        if (counts && path.extension() == ".png") pictures.push_back(path);
    }
    std::ranges::sort(pictures);
    return pictures;
}

void FileOpener::open_state(int direction) {
    const std::vector<fs::path> all = states();
    if (all.empty())
        return stage_.say(tr(
            "There is no prepared state. Save one with F12, or open a PNG of a folder of them."));
    const auto now = std::ranges::lower_bound(all, picture_) - all.begin();
    const auto next =
        picture_.empty() ? (direction > 0 ? 0 : std::ssize(all) - 1) : now + direction;
    if (next < 0 || next >= std::ssize(all))
        return stage_.say(direction > 0 ? tr("This is the last picture of its folder.")
                                        : tr("This is the first picture of its folder."));
    open(all[std::size_t(next)].string());
}

std::string FileOpener::load(const std::string& path, const std::string& file) {
    try {
        KernelDocument& document = stage_.documents()[file];
        document.replace(read_kernel(path));
        document.set_saved(std::filesystem::absolute(with_home(path)).lexically_normal().string());
        options_.kernel_path = path;
        return {};
    } catch (const std::exception& error) {
        return error.what();
    }
}

/// The edits of this source would be lost.
bool FileOpener::replaces_edits(const OpenedFile& file) const {
    const KernelDocument* before =
        std::as_const(stage_).documents().find(experiments::source_key(file.launch));
    if (file.launch.built_in || !before || before->saved() || before->path().empty()) return false;
    const std::string path = file.launch.in_folder(file.launch.source).string();
    return before->path() != path || before->shipped() != file.kernel;
}

void FileOpener::advance() {
    if (is_ready(reading_)) show(reading_.get());
    if (!reading_.valid() && !waiting_.empty()) {
        reading_ =
            std::async(std::launch::async, [path = waiting_.front()] { return read_file(path); });
        waiting_.pop_front();
    }
    if (news_.empty() || !stage_.settled()) return;
    // An error says why the settings could not be set.
    if (stage_.message().tone != Tone::error) stage_.say(news_);
    news_.clear();
}

void FileOpener::show(const OpenedFile& file) {
    if (file.path.ends_with(".png")) picture_ = file.path;
    if (!file.error.empty()) return stage_.say(file.error, Tone::error);
    if (file.kind == OpenedFile::Kind::launch) return show_launch(file);
    if (file.kind == OpenedFile::Kind::picture) return show_picture(file);
    if (file.kind == OpenedFile::Kind::order) return show_order(file);
    const std::vector<experiments::Assignment> values{{"start", "file"}, {"file", file.path}};
    if (!stage_.open(experiments::unowned(experiments::find_experiment("nbody")), values,
                     stage_.run()))
        return;
    remember(file.path);
    news_ = tr("Opened {}: {} bodies.", name_of(file), compute::grouped(double(file.bodies)));
}

void FileOpener::show_launch(const OpenedFile& file) {
    const bool built_in = file.launch.built_in;
    if (!built_in && !stage_.read_only().empty())
        return stage_.say(tr("Cannot run {}: {}", name_of(file), stage_.read_only()), Tone::error);
    if (replaces_edits(file))
        return stage_.say(tr("{} has edits that are not saved. Save or revert them, then "
                             "open {} again.",
                             file.launch.source.filename().string(), name_of(file)),
                          Tone::error);
    const bool of_picture = !file.metadata.empty();
    compute::RunSettings run = stage_.run();
    if (file.order) run.turns = file.order;
    if (of_picture) run = run_settings(file.metadata, run);
    if (run != stage_.run()) stage_.set_run(run);
    if (built_in && stage_.read_only().empty())
        for (const auto& [kernel, text] : file.sources) stage_.documents()[kernel].replace(text);
    stage_.open_launch(file.launch, file.kernel, file.parameters);
    options_.editor = true;
    options_.kernel_path = built_in ? "" : file.launch.in_folder(file.launch.source).string();
    if (file.path == launches_) return;
    remember(file.path);
    if (of_picture)
        news_ = tr("Opened {} with the settings of {}. The picture is frame {}.",
                   file.launch.file.filename().string(), name_of(file), file.frame);
    else
        news_ = file.launch.saved
                    ? tr("Opened {}.", name_of(file))
                    : tr("Opened {} with a launch that was made from its first kernel. Change "
                         "it in the tab Launch and save it.",
                         name_of(file));
}

void FileOpener::show_picture(const OpenedFile& file) {
    if (!stage_.open(experiments::unowned(*file.entry), file.parameters,
                     run_settings(file.metadata, stage_.run())))
        return;
    remember(file.path);
    const std::vector<fs::path> all = states();
    news_ = tr("The settings of {} are back. The picture is frame {}.", name_of(file), file.frame);
    if (all.size() > 1)
        news_ += tr(" State {} of {}.", std::ranges::lower_bound(all, picture_) - all.begin() + 1,
                    all.size());
    if (file.sources.empty()) return;
    if (!stage_.read_only().empty()) {
        news_ += tr(" Its kernel was edited, and no edit can run here.");
        return;
    }
    for (const auto& [kernel, text] : file.sources) stage_.documents()[kernel].replace(text);
    news_ += tr(" Its edited kernel runs.");
}

void FileOpener::show_order(const OpenedFile& file) {
    if (stage_.device().kind != compute::DeviceKind::emulator)
        return stage_.say(
            tr("{} is an order of warps, which only the emulator can follow: choose it "
               "as the device, and open the file again.",
               name_of(file)),
            Tone::error);
    compute::RunSettings run = stage_.run();
    run.turns = file.order;
    stage_.set_run(run);
    remember(file.path);
    const emulator::Dim3 block = file.order->block;
    news_ = tr("The warps of block ({}, {}, {}) of kernel {} run in the order of {}.", block.x,
               block.y, block.z, file.order->kernel, name_of(file));
}

void FileOpener::remember(const std::string& path) {
    std::vector<std::string>& recent = options_.recent_files;
    std::erase(recent, path);
    recent.insert(recent.begin(), path);
    if (recent.size() > most_recent) recent.resize(most_recent);
}

}  // namespace warpscope::ui
