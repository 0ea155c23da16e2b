#include "ui/dock/registers_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ui/language/language.h"
#include "ui/microscope/warp_words.h"
#include "ui/source/recent_registers.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::RegisterInfo;

constexpr float column_width = 178, row_height = 21;

/// The tooltip of a register: its bits as hexadecimal, unsigned, signed and floating-point number.
std::string all_readings(const RegisterInfo& reg, std::uint64_t bits) {
    if (reg.bits == 1) return fmt::format("{} = {}", reg.name, bits ? "true" : "false");
    std::string words = tr("{}, {} bits\nhex {:#x}\nunsigned {}", reg.name, reg.bits, bits, bits);
    if (reg.bits == 32)
        words += tr("\nsigned {}\nfloat {:.9g}", std::int32_t(bits),
                    double(std::bit_cast<float>(std::uint32_t(bits))));
    if (reg.bits == 64)
        words += tr("\nsigned {}\ndouble {:.17g}", std::int64_t(bits), std::bit_cast<double>(bits));
    return words;
}

/// The newest step that wrote one of the registers; the registers that it wrote are highlighted.
std::uint64_t newest_step(const std::vector<RecentRegister>& registers) {
    return registers.empty() ? 0 : registers.front().step;
}

void cell(Ui& ui, Microscope& microscope, const RegisterInfo& reg, bool fresh, ImVec2 low) {
    const Microscope& m = microscope;
    const std::uint64_t bits = m.stepper().value(reg, m.warp(), m.lane());
    const std::string value = register_text(reg, bits);
    const ImVec2 high{low.x + ui.px(column_width - 14), low.y + ui.px(row_height)};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (fresh) list.AddRectFilled(low, high, faded(warp_colour(m.warp()), 0.2F), ui.px(4));
    const float y = low.y + (high.y - low.y - ImGui::GetTextLineHeight()) / 2;
    list.AddText({low.x + ui.px(6), y}, colour::dim, reg.name.c_str());
    const float width = ImGui::CalcTextSize(value.c_str()).x;
    list.AddText({high.x - ui.px(6) - width, y}, fresh ? colour::text : colour::dim, value.c_str());
    record_rect(ui, low, high, "register." + reg.name, value);
    if (ImGui::IsMouseHoveringRect(low, high) && ImGui::IsWindowHovered())
        quick_tooltip(ui, all_readings(reg, bits));
}

void table(Ui& ui, Microscope& microscope, const std::vector<RecentRegister>& registers) {
    const emulator::Kernel& kernel = microscope.stepper().kernel();
    const ImVec2 low = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    const auto rows = std::size_t(std::max(1.F, room.y / ui.px(row_height)));
    ImGui::PushFont(ui.fonts.mono_small);
    for (std::size_t i = 0; i < registers.size(); ++i) {
        const ImVec2 at{low.x + ui.px(column_width) * float(i / rows),
                        low.y + ui.px(row_height) * float(i % rows)};
        cell(ui, microscope, kernel.registers[registers[i].index],
             registers[i].step == newest_step(registers), at);
    }
    ImGui::PopFont();
}

}  // namespace

void RegistersPanel::draw(Ui& ui) {
    Microscope& m = microscope_;
    if (!m.ready()) return;
    const std::string words = tr("warp {}, {}", m.warp(), lane_words(m, m.warp(), m.lane()));
    text(ui.fonts.small, colour::dim, words);
    record(ui, "registers", words);
    ImGui::PushFont(ui.fonts.small);
    same_line_if_room(ui.px(12), ImGui::CalcTextSize(tr("newest first")).x);
    ImGui::PopFont();
    text(ui.fonts.small, colour::faint, tr("newest first"));
    tooltip(ui, tr("The registers of this lane, the last written first. Click a lane in the list "
                   "of warps to pick another."));
    if (writes_copy_ != m.copy()) {
        writes_copy_ = m.copy();
        writes_ = RegisterWrites(m.stepper().kernel());
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const auto columns = std::size_t(std::max(1.F, room.x / ui.px(column_width)));
    const auto rows = std::size_t(std::max(1.F, room.y / ui.px(row_height)));
    const auto registers =
        recent_registers(m.stepper(), writes_, m.warp(), m.lane(), columns * rows);
    if (registers.empty())
        return paragraph(ui.fonts.body, colour::faint,
                         tr("This lane has written no register yet."));
    table(ui, microscope_, registers);
}

}  // namespace warpscope::ui
