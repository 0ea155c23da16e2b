#include "ui/commands/shown_tables.h"

#include "compute/ceilings.h"
#include "emulator/witness/witness_words.h"
#include "ui/source/recent_registers.h"

namespace warpscope::ui {
namespace {

using experiments::Table;

Table policies_table(const std::vector<experiments::PolicyOutcome>& outcomes) {
    Table table{"Barriers", {"policy", "finishes", "blocks run", "findings", "first of them"}, {}};
    for (const experiments::PolicyOutcome& one : outcomes)
        table.rows.push_back({std::string(compute::name(one.policy)), one.ends ? "yes" : one.error,
                              double(one.blocks), double(one.findings.size()),
                              one.findings.empty() ? "" : one.findings.front().sentence});
    return table;
}

Table registers_table(const Microscope& microscope) {
    const emulator::Stepper& stepper = microscope.stepper();
    const emulator::Kernel& kernel = stepper.kernel();
    const unsigned warp = microscope.warp(), lane = microscope.lane();
    Table table{"Registers", {"register", "value", "step"}, {}};
    for (const RecentRegister& one :
         recent_registers(stepper, RegisterWrites(kernel), warp, lane, kernel.registers.size())) {
        const emulator::RegisterInfo& info = kernel.registers[one.index];
        table.rows.push_back({info.name, register_text(info, stepper.value(info, warp, lane)),
                              double(one.step + 1)});
    }
    return table;
}

Table banks_table(const emulator::AccessView& access) {
    Table table{"Banks", {"lane", "byte of shared memory", "bank"}, {}};
    for (unsigned lane = 0; lane < emulator::lanes_per_warp; ++lane)
        if (access.mask >> lane & 1) {
            const std::uint64_t byte = access.addresses[lane];
            table.rows.push_back({double(lane), double(byte), double(byte / 4 % 32)});
        }
    return table;
}

Table turns_table(const Microscope& microscope) {
    Table table{"Order", {"turn"}, {}};
    for (std::string& words : emulator::turn_words(*microscope.choice().turns))
        table.rows.push_back({microscope.as_named(std::move(words))});
    return table;
}

Table reason_table(const Reason& reason) {
    Table table{"Why", {"run", "instruction"}, {}};
    for (const auto& [run, side] :
         {std::pair("this", &reason.run), std::pair("right", &reason.right)})
        for (const std::string& line : side->lines) table.rows.push_back({run, line});
    return table;
}

std::optional<Table> table_of_the_block(const Microscope& microscope, const std::string& tab) {
    if (!microscope.ready()) return {};
    if (tab == "registers") return registers_table(microscope);
    if (tab == "order" && microscope.choice().turns) return turns_table(microscope);
    if (tab == "why" && microscope.reason()) return reason_table(*microscope.reason());
    const auto access = microscope.stepper().shared_access(microscope.warp());
    if (tab == "banks" && access) return banks_table(*access);
    return {};
}

std::optional<Table> table_of_tab(const Stage& stage, const Microscope& microscope,
                                  const std::string& tab, const ViewOptions& options) {
    const Checks& checks = stage.checks();
    if (tab == "findings" && checks.inspection)
        return experiments::findings_table(findings_on_show(stage, microscope));
    if (tab == "counters") return experiments::counters_table(checks.counters);
    if (const auto* kernel = checks.newest_counters(); tab == "lines" && kernel)
        return experiments::lines_table(
            *kernel, options.figure, [&](const std::string& file, int line) {
                return experiments::text_of_line(stage.shown().edits, file, line);
            });
    if (tab == "heat" && checks.inspection && checks.inspection->heat)
        return experiments::heat_table(*checks.inspection->heat, stage.shown().edits);
    if (const auto* ceilings = compute::known_ceilings(stage.device());
        tab == "roofline" && ceilings)
        return experiments::roofline_table(stage.timings().kernels(), *ceilings);
    if (tab == "occupancy")
        return experiments::occupancy_table(stage.timings().kernels(), options.occupancy,
                                            stage.device().compute_capability);
    if (tab == "timings") return experiments::timings_table(stage.timings().kernels());
    if (tab == "barriers" && checks.policies) return policies_table(*checks.policies);
    return table_of_the_block(microscope, tab);
}

}  // namespace

std::vector<emulator::Finding> findings_on_show(const Stage& stage, const Microscope& microscope) {
    const auto& inspection = stage.checks().inspection;
    if (!inspection) return {};
    std::vector<emulator::Finding> findings = inspection->verdict.findings;
    if (microscope.needs().knows(inspection->launch))
        for (emulator::Finding& barrier : microscope.needs().answer()->findings())
            findings.push_back(std::move(barrier));
    return findings;
}

std::vector<Table> tables_on_show(const Stage& stage, const Microscope& microscope,
                                  const std::string& tab, const ViewOptions& options) {
    std::vector<Table> tables;
    if (auto first = table_of_tab(stage, microscope, tab, options)) tables.push_back(*first);
    tables.push_back(experiments::results_table(stage.report()));
    if (stage.comparison()) tables.push_back(experiments::comparison_table(*stage.comparison()));
    return tables;
}

}  // namespace warpscope::ui
