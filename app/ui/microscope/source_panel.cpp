#include "ui/microscope/source_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/program/lanes.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::SplitView;
using emulator::Stepper;

void read_texts(Microscope& microscope, SourceTexts& source) {
    if (source.copy == microscope.copy()) return;
    source.copy = microscope.copy();
    const emulator::Kernel& kernel = microscope.stepper().kernel();
    source.source =
        source_text(kernel, [&](std::string_view file) { return microscope.source(file); });
    source.ptx = ptx_text(kernel);
}

std::vector<Chip> chips(const Microscope& microscope, const KernelText& text) {
    const Stepper& stepper = microscope.stepper();
    const bool open = stepper.end() == Stepper::End::open;
    std::vector<Chip> list;
    for (unsigned w = 0; w < stepper.warps(); ++w) {
        const emulator::WarpView warp = stepper.warp(w);
        const std::uint32_t there = warp.threads & ~warp.exited;
        bool first = true;
        for (const SplitView& split : warp.splits) {
            const auto row = text.row(split.pc);
            const bool acting = open && first && w == microscope.acting_warp();
            first = false;
            if (row)
                list.push_back({*row, w, split.mask, split.state, split.mask == there, acting});
        }
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Chip& a, const Chip& b) { return a.row < b.row; });
    return list;
}

/// Rows of the findings up to the current step.
std::vector<std::uint32_t> hazard_rows(Microscope& microscope, const KernelText& text) {
    std::vector<std::uint32_t> rows;
    const auto add = [&](const emulator::ThreadAtLine& party) {
        if (party.file != text.file) return;
        if (const auto row = text.row_of_line(party.line)) rows.push_back(*row);
    };
    const auto add_both = [&](const emulator::Finding& finding) {
        add(finding.first);
        if (finding.second) add(*finding.second);
    };
    for (const emulator::Finding& finding : microscope.findings()) add_both(finding);
    if (const emulator::Finding* shown = microscope.shown_finding()) add_both(*shown);
    return rows;
}

std::optional<std::uint32_t> focus_row(const Microscope& microscope, const KernelText& text) {
    const auto& splits = microscope.stepper().warp(microscope.acting_warp()).splits;
    if (!splits.empty()) return text.row(splits.front().pc);
    const std::uint64_t here = microscope.stepper().position();
    if (here == 0) return {};
    return text.row(microscope.stepper().history()[here - 1].pc);
}

/// Marks the lines behind a wrong value.
void mark_reason(const Reason& reason, const KernelText& text, Listing& listing) {
    for (const std::uint32_t pc : reason.pcs)
        if (const auto row = text.row(pc)) listing.slice.push_back(*row);
    std::ranges::sort(listing.slice);
    const emulator::WrongWord& word = reason.word_of_memory();
    const auto place = word.place();
    if (!place || !word.parting) return;
    const std::uint32_t pc = word.run.trace.steps()[place->step].pc;
    if (const auto row = text.row(pc))
        listing.reasons.push_back(
            {*row, tr("warp {} got the wrong value here, step {}", place->warp, place->step + 1)});
    if (!word.writer) return;
    if (const auto row = text.row(word.writer->pc))
        listing.reasons.push_back({*row, word.writer->step
                                             ? tr("warp {} writes here, step {}", word.writer->warp,
                                                  *word.writer->step + 1)
                                             : tr("warp {} should write here", word.writer->warp)});
}

Listing make_listing(Microscope& microscope, const char* id, const KernelText& text,
                     const std::string& file, const FindBar* find, CodeHelp* help) {
    Listing listing{id,   &text, chips(microscope, text), {}, focus_row(microscope, text), file,
                    find, help};
    listing.hazards = hazard_rows(microscope, text);
    if (const Reason* reason = microscope.reason()) mark_reason(*reason, text, listing);
    const auto needed = microscope.needed();
    for (std::size_t k = 0; k < needed.size(); ++k) {
        const emulator::Finding& finding = needed[k].finding;
        const auto row =
            finding.first.file == text.file ? text.row_of_line(finding.first.line) : std::nullopt;
        if (row) listing.needed.push_back({*row, mark_words(needed[k]), k});
    }
    return listing;
}

std::string index_text(const Microscope::Dim3& at, const Microscope::Dim3& size) {
    if (size.z > 1) return fmt::format("{}, {}, {}", at.x, at.y, at.z);
    return size.y > 1 ? fmt::format("{}, {}", at.x, at.y) : fmt::format("{}", at.x);
}

void block_field(Ui& ui, Microscope& microscope) {
    const Microscope::Dim3 grid = microscope.launch().grid;
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.small, colour::dim, tr("Block"));
    tooltip(ui, tr("The index of the block, such as \"12, 7\". A click in the picture chooses a "
                   "block, too."));
    ImGui::SameLine(0, ui.px(6));
    std::string typed;
    if (field(ui, "microscope.block", index_text(microscope.block(), grid), ui.px(82), typed))
        ui.later([&microscope, typed] { microscope.set_block(typed); });
    ImGui::SameLine(0, ui.px(6));
    text(ui.fonts.small, colour::faint, tr("of {}", dimensions(grid)));
    ImGui::SameLine(0, ui.px(10));
}

/// Shows the copied frame and, if the experiment has gone on, a button for a new copy.
void frame_part(Ui& ui, Stage& stage, Microscope& microscope) {
    const std::uint64_t live = stage.shown().inspected.frame, here = microscope.frame();
    ImGui::SameLine(0, ui.px(10));
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.small, colour::faint, tr("frame {}", here));
    record(ui, "microscope.frame", fmt::format("{}", here));
    if (live == here) return;
    tooltip(ui, tr("The experiment has gone on. The microscope shows this earlier frame."));
    ImGui::SameLine(0, ui.px(6));
    if (icon_button(ui, "microscope.renew", Icon::restart, tr("Show the current frame.")))
        ui.later([&stage, &microscope] { microscope.renew(stage.launch()); });
}

/// The barrier policy, for a kernel with a barrier.
void barriers_choice(Ui& ui, Microscope& microscope) {
    const Microscope::Choice& choice = microscope.choice();
    ImGui::SameLine(0, ui.px(8));
    const auto clicked = enum_dropdown(ui, "microscope.barriers", choice.barriers, ui.px(138));
    tooltip(ui, barrier_policy_help);
    if (!clicked) return;
    Microscope::Choice wish = choice;
    wish.barriers = *clicked;
    ui.later([&microscope, wish] { microscope.choose(wish); });
}

float right_part_width(Ui& ui, Microscope& microscope) {
    ImGui::PushFont(ui.fonts.small);
    const auto grid = microscope.launch().grid;
    const float words =
        ImGui::CalcTextSize(tr("Block")).x +
        ImGui::CalcTextSize((tr("of {}", dimensions({grid.x, grid.y, grid.z}))).c_str()).x;
    ImGui::PopFont();
    return words + ui.px(82 + 6 + 6 + 10) + ImGui::CalcTextSize("PTX").x +
           2 * ImGui::GetStyle().FramePadding.x;
}

void header(Ui& ui, Stage& stage, Microscope& microscope, SourceTexts& source) {
    const float left = ImGui::GetCursorPosX(), width = ImGui::GetContentRegionAvail().x;
    const float right = right_part_width(ui, microscope);
    const emulator::Kernel& kernel = microscope.stepper().kernel();
    const std::string& file = source.source.file;
    ImGui::AlignTextToFramePadding();
    const float room = width - right;
    const bool frame = room > ui.px(190), barriers = room > ui.px(310) && kernel.has_barrier;
    const float rest = (frame ? ui.px(120) : ui.px(10)) + (barriers ? ui.px(148) : 0);
    const std::string name = microscope.kernel_name();
    clipped_text(ui.fonts.strong, colour::text, name, std::max(ui.px(30), room - rest));
    record(ui, "microscope.kernel", name);
    tooltip(ui, tr("Kernel {} in {}", name, file.empty() ? tr("PTX text") : file));
    if (frame) frame_part(ui, stage, microscope);
    if (barriers) barriers_choice(ui, microscope);
    ImGui::SameLine(left + width - right, 0);
    block_field(ui, microscope);
    if (flat_button(ui, "microscope.ptx", "PTX", source.show_ptx))
        source.show_ptx = !source.show_ptx;
    tooltip(ui, with_key(tr("Show the kernel's PTX beside its source"), Command::toggle_ptx));
}

/// "thread (0,12,0) · warp 6 · lane 0 reads word 192": the thread at which to look.
std::string subject_words(const Microscope& microscope, const emulator::Finding& finding) {
    using emulator::Hazard;
    const emulator::ThreadAtLine& at = finding.place();
    const std::uint32_t thread = emulator::linear_in(microscope.launch().block, at.thread);
    std::string words = tr("thread {} · warp {} · lane {}", name_of(at.thread),
                           thread / emulator::lanes_per_warp, thread % emulator::lanes_per_warp);
    if (finding.kind != emulator::FindingKind::race || !finding.byte) return words;
    const std::uint64_t word = *finding.byte / 4;
    const bool reads = finding.second ? finding.hazard != Hazard::write_after_write
                                      : finding.hazard == Hazard::none;
    return words + " " + (reads ? tr("reads word {}", word) : tr("writes word {}", word));
}

/// The finding that was clicked, above the source, until it is closed.
void finding_strip(Ui& ui, Microscope& microscope) {
    const emulator::Finding* finding = microscope.shown_finding();
    if (!finding) return;
    const float width = ImGui::GetContentRegionAvail().x, height = ui.px(28);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImU32 ink = spoils_results(*finding) ? colour::bad : colour::warning;
    ImGui::GetWindowDrawList()->AddRectFilled(low, {low.x + width, low.y + height},
                                              faded(ink, colour::badge_fill), ui.px(4));
    ImGui::SetCursorScreenPos({low.x + ui.px(10), low.y + ui.px(4)});
    const std::string words = subject_words(microscope, *finding);
    clipped_text(ui.fonts.body, colour::text, words, width - ui.px(50));
    record_rect(ui, low, {low.x + width, low.y + height}, "microscope.finding", words);
    tooltip(ui, tr(finding->sentence));
    ImGui::SetCursorScreenPos({low.x + width - icon_button_width(ui), low.y});
    if (icon_button(ui, "microscope.finding.close", Icon::close, tr("Hide what the finding says.")))
        ui.later([&microscope] { microscope.forget_finding(); });
    ImGui::SetCursorScreenPos({low.x, low.y + height + ui.px(6)});
}

/// Says at the lower edge how the block ended.
void ending(Ui& ui, Microscope& microscope) {
    const Stepper& stepper = microscope.stepper();
    if (stepper.end() == Stepper::End::open) return;
    const bool failed = stepper.end() == Stepper::End::failed;
    const std::string words = failed ? tr(microscope.error()) : tr("The block has finished.");
    paragraph(ui.fonts.small, failed ? colour::bad : colour::dim, words);
    record(ui, "microscope.ending", words);
}

float ending_height(Ui& ui, Microscope& microscope, float width) {
    const Stepper& stepper = microscope.stepper();
    if (stepper.end() == Stepper::End::open) return 0;
    const bool failed = stepper.end() == Stepper::End::failed;
    ImGui::PushFont(ui.fonts.small);
    const std::string words = failed ? tr(microscope.error()) : tr("The block has finished.");
    const float height = ImGui::CalcTextSize(words.c_str(), nullptr, false, width).y + ui.px(8);
    ImGui::PopFont();
    return height;
}

bool searches_ptx(const SourceTexts& source) {
    if (source.source.empty() || source.ptx.empty()) return source.source.empty();
    return source.show_ptx && source.find_in_ptx;
}

/// The bar that searches the text that was clicked last, while it is open.
void find_bar(Ui& ui, SourceTexts& source) {
    if (source.left.clicked) source.find_in_ptx = false;
    if (source.right.clicked) source.find_in_ptx = true;
    const bool ptx = searches_ptx(source);
    const KernelText& text = ptx ? source.ptx : source.source;
    const TextRows rows{int(text.lines.size()), [&](int row) -> std::string_view {
                            return text.lines[std::size_t(row)].text;
                        }};
    const auto goal =
        source.find.draw(ui, "microscope.find", rows, 2 * source.copy + (ptx ? 1 : 0));
    if (!goal) return;
    std::optional<int> row = goal->match.row;
    if (goal->line > 0) {
        const auto found = text.row_of_line(goal->line);
        row = found ? std::optional(int(*found)) : std::nullopt;
    }
    (ptx ? source.right : source.left).reveal = row;
}

void texts(Ui& ui, Microscope& microscope, SourceTexts& source, ImVec2 size) {
    const bool moved = source.version != microscope.version();
    // A step by hand scrolls to the new place. While the block plays, a person may look elsewhere.
    if (moved && !microscope.playing()) source.left.following = source.right.following = true;
    source.version = microscope.version();
    // A listing that opens begins at the instruction that runs next.
    if (source.show_ptx && !source.ptx_shown) source.right.settling = 3;
    source.ptx_shown = source.show_ptx;
    const bool both = source.show_ptx && !source.source.empty() && !source.ptx.empty() &&
                      size.x >= ui.px(360);  // else the PTX takes the place of the source
    // Lines of CUDA C++ are longer than lines of PTX.
    const float left = both ? std::floor((size.x - ui.px(8)) * 0.54F) : size.x;
    const float right = both ? size.x - ui.px(8) - left : size.x;
    const bool ptx = searches_ptx(source);
    if (both || !source.show_ptx || source.ptx.empty()) {
        if (!source.source.empty())
            draw_listing(ui, microscope, source.left,
                         make_listing(microscope, "source", source.source, source.source.file,
                                      ptx ? nullptr : &source.find, &source.help),
                         {left, size.y}, moved);
    }
    if (both) ImGui::SameLine(0, ui.px(8));
    if ((source.show_ptx || source.source.empty()) && !source.ptx.empty())
        draw_listing(ui, microscope, source.right,
                     make_listing(microscope, "ptx", source.ptx, "", ptx ? &source.find : nullptr,
                                  both ? nullptr : &source.help),
                     {right, size.y}, moved);
}

}  // namespace

void SourcePanel::explain() {
    source_.help.ask();
    for (ListingView* view : {&source_.left, &source_.right}) {
        view->following = true;
        view->settling = 2;
    }
}

bool SourcePanel::close_find() {
    const bool open = source_.find.is_open();
    source_.find.close();
    return open;
}

void SourcePanel::draw(Ui& ui) {
    if (!microscope_.ready()) {
        // A copy that is on its way is no fault.
        const bool waits = microscope_.waits();
        if (!waits) paragraph(ui.fonts.body, colour::dim, tr("There is no block to step."));
        paragraph(ui.fonts.body, waits ? colour::dim : colour::bad, microscope_.complaint());
        record(ui, "microscope.complaint", microscope_.complaint());
        return;
    }
    read_texts(microscope_, source_);
    header(ui, stage_, microscope_, source_);
    finding_strip(ui, microscope_);
    find_bar(ui, source_);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float foot = ending_height(ui, microscope_, room.x);
    texts(ui, microscope_, source_, {room.x, std::max(ui.px(20), room.y - foot)});
    ending(ui, microscope_);
}

}  // namespace warpscope::ui
