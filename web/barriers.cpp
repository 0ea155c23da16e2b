// In place of app/compute/helper. A page has no compiler, but it has the PTX of its kernels, from
// which it leaves out the barriers that are commented out, as the search for needed barriers does.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/source_file.h"
#include "compute/device/kernel_files.h"
#include "compute/emulated/emulated_device.h"
#include "compute/helper/helpers.h"
#include "emulator/program/module.h"
#include "emulator/witness/needed_barriers.h"
#include "emulator/witness/schedule_file.h"
#include "ui/documents/kernel_documents.h"

namespace warpscope::compute {
namespace {

namespace fs = std::filesystem;

/// The sources of lessons, with more barriers than a student sees at first, and their PTX.
const fs::path lessons = "/usr/share/warpscope/lessons";

/// A text with all of its barriers, and the lines of those that are commented out.
struct Barriers {
    std::string text;
    std::vector<int> out;
};

Barriers barriers_of(std::string_view source) {
    ui::KernelDocument document(source);
    Barriers found;
    for (const ui::BarrierLine& one : document.barriers())
        if (one.state != ui::BarrierState::in) {
            if (one.state == ui::BarrierState::mixed) document.toggle_barriers(one.line);
            document.toggle_barriers(one.line);
            found.out.push_back(one.line);
        }
    found.text = document.text();
    return found;
}

/// The PTX of a text with all of its barriers; empty: the page has none.
std::string ptx_of(const compiler::Request& request, const std::string& text) {
    for (const auto& one : fs::directory_iterator(lessons)) {
        fs::path file = one.path();
        if (file.extension() != ".cu" || request.fast_math ||
            barriers_of(compiler::read_source_file(file)).text != text)
            continue;
        return compiler::read_source_file(
            file.replace_extension(request.debug_info ? ".debug.ptx" : ".ptx"));
    }
    if (request.debug_info || barriers_of(kernel_source(request.file)).text != text) return {};
    return std::string(
        kernel_ptx(kernel_file(request.file), request.fast_math ? Math::fast : Math::precise));
}

/// Returns whether a barrier stands at this place.
bool leave_out(std::string& ptx, const std::string& place) {
    bool found = false;
    const auto module = emulator::Module::parse(ptx, "");
    for (const auto& kernel : module->kernels())
        for (const auto& line : emulator::ordering_lines(*kernel)) {
            if (!line.what.starts_with("bar")) continue;
            if (emulator::users_place(*kernel, line.pcs[0]) != place) continue;
            found = true;  // the text keeps its length
            std::ranges::transform(ptx, emulator::ptx_without(*kernel, line), ptx.begin(),
                                   [](char now, char then) { return then == ' ' ? then : now; });
        }
    return found;
}

[[noreturn]] void refuse(const compiler::Request& request, int line, const std::string& why) {
    throw compiler::CompileError(fmt::format("{}:{}: {}", request.file, line, why),
                                 {{line, 0, compiler::Severity::error, why}});
}

}  // namespace

struct Helpers::Parts {};
Helpers::Helpers(fs::path) {}
Helpers::~Helpers() = default;
std::string Helpers::no_compiler() const {
    return {};
}
void Helpers::search_compiler() {}
void Helpers::warm(const DeviceInfo&) {}
void Helpers::compile_for(unsigned) {}
KernelEdits Helpers::compiled_anew(const KernelEdits& edits, const std::stop_token&) noexcept {
    return edits;
}

CompiledSource Helpers::compile(const compiler::Request& request, std::stop_token) {
    const Barriers wanted = barriers_of(request.source);
    CompiledSource compiled;
    compiled.ptx = ptx_of(request, wanted.text);
    if (compiled.ptx.empty())
        refuse(request, 0,
               "A page has no compiler: the marks beside barriers switch them on and off, and "
               "nothing else can be changed.");
    for (const int line : wanted.out)
        if (!leave_out(compiled.ptx, fmt::format("{}:{}", request.file, line)) &&
            !request.debug_info)
            refuse(request, line, "A page can't leave out this barrier.");
    return compiled;
}

std::shared_ptr<const KernelEdit> Helpers::compile(std::string_view file, const std::string& source,
                                                   Math math, std::stop_token stop) {
    auto edit = std::make_shared<KernelEdit>();
    edit->file = file;
    edit->source = source;
    edit->math = math;
    edit->ptx = compile({kernel_path(file), source, math == Math::fast}, std::move(stop)).ptx;
    return edit;
}

std::unique_ptr<Device> Helpers::device(const DeviceInfo& like, const RunSettings& settings,
                                        KernelEdits edits, const LaunchLimits& limits) {
    return make_emulated_device(
        {like.reason, like.memory_bytes, settings, std::move(edits), limits});
}

LaunchLimits usual_limits() {
    return {.time = std::chrono::seconds(20)};  // an interpreter takes several times as long
}

}  // namespace warpscope::compute
