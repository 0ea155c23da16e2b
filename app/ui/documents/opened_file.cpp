#include "ui/documents/opened_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "compute/device/enum_words.h"
#include "compute/device/sentences.h"
#include "experiments/bodies/bodies_file.h"
#include "experiments/launch/find_launch.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "experiments/nbody/nbody_parameters.h"
#include "files/regular_file.h"
#include "gl/png.h"
#include "launches/files/file_kind.h"
#include "ui/documents/kernel_documents.h"
#include "ui/documents/kernel_file_choice.h"
#include "ui/language/language.h"

namespace warpscope::ui {
namespace {

namespace fs = std::filesystem;

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

}  // namespace warpscope::ui
