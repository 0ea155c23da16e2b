#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/host/host_code.h"
#include "compute/ceilings.h"
#include "compute/device/enum_words.h"
#include "compute/device/kernel_files.h"
#include "compute/device/number_text.h"
#include "emulator/witness/schedule_file.h"
#include "experiments/export/page_and_trace.h"
#include "experiments/framework/metadata.h"
#include "experiments/measure/user_paths.h"
#include "gl/png.h"
#include "jobs/headless/headless.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/verdict.h"

namespace warpscope::jobs {
namespace {

using compute::quantity;

std::string timing_lines(const compute::KernelTiming& k, const compute::Ceilings* ceilings) {
    std::string line = fmt::format("  {:28} {:>6} launches  median {:>7} ms  p99 {:>7} ms", k.name,
                                   k.launches, compute::milliseconds(double(k.median_ms())),
                                   compute::milliseconds(double(k.p99_ms())));
    if (const std::string rate = compute::rate(k); !rate.empty()) line += "  " + rate;
    const auto shares = ceilings ? compute::shares_of(k, *ceilings) : compute::CeilingShares{};
    if (shares.larger() > 0)
        line += fmt::format("  {} of the {}", quantity(100 * shares.larger(), "%"),
                            shares.larger_name());
    if (k.engine == compute::Engine::compiled) line += "  compiled";
    line += k.cold() ? "  (first launch)\n" : "\n";
    const std::string note = k.cold() ? "" : compute::timing_note(k, ceilings);
    if (note.empty()) return line;
    for (const std::string& part : wrap(note, 94)) line += "      " + part + "\n";
    return line;
}

/// The measured ceilings, which the shares refer to, and the clocks.
std::string ceiling_lines(const RunResult& r) {
    std::string text;
    if (r.ceilings)
        text += fmt::format("  ceilings: {} copied, {} read, {} FP32; an empty kernel: {} ms\n",
                            quantity(r.ceilings->bytes_per_second, "B/s"),
                            quantity(r.ceilings->read_bytes_per_second, "B/s"),
                            quantity(r.ceilings->flops_per_second, "flop/s"),
                            compute::milliseconds(r.ceilings->lone_launch_ms));
    if (r.gpu) text += "  clocks: " + compute::words(*r.gpu) + "\n";
    return text;
}

std::string reading_lines(const experiments::Reading& r) {
    std::string line = fmt::format("  {:28} {}", r.label, quantity(r.value, r.unit));
    if (r.expected) line += fmt::format("  (expected {})", quantity(*r.expected, r.unit));
    if (r.verdict != experiments::Verdict::none) {
        line += fmt::format("  {}", experiments::to_string(r.verdict));
    }
    line += "\n";
    if (r.sentence.empty()) return line;
    for (const std::string& part : wrap(r.sentence.english(), 94)) line += "      " + part + "\n";
    return line;
}

Json partial_json(const std::optional<Partial>& partial) {
    if (!partial) return nullptr;
    return {{"frames_requested", partial->frames_requested}, {"missing", partial->missing}};
}

Json proposal_json(const Proposal& proposal) {
    return {{"launch_file", Json::parse(proposal.launch_file)},
            {"guesses", proposal.guesses},
            {"not_launched", proposal.not_launched}};
}

std::string proposal_lines(const Proposal& proposal) {
    std::string text =
        "\nthe launch file that was proposed, since there is none\n" + proposal.launch_file;
    const auto add = [&](const char* title, const std::vector<std::string>& names) {
        if (names.empty()) return;
        for (const std::string& line :
             wrap(fmt::format("{}: {}", title, fmt::join(names, ", ")), 96))
            text += "  " + line + "\n";
    };
    add("guessed", proposal.guesses);
    add("not launched", proposal.not_launched);
    return text;
}

std::string partial_line(const RunResult& r) {
    std::string line = fmt::format("partial results: the run was stopped after frame {} of {}",
                                   r.frames, r.partial->frames_requested);
    if (!r.partial->missing.empty())
        line += fmt::format("; not computed: {}", fmt::join(r.partial->missing, ", "));
    return line + "\n";
}

/// Says so where the run has launched no kernel that its schedule file is about.
std::string order_line(const RunResult& r) {
    const auto& order = r.settings.turns;
    if (!order || r.kernels.empty()) return {};
    const std::string kernel = experiments::as_named(order->kernel, r.edits);
    if (std::ranges::find(r.kernels, kernel, &compute::KernelTiming::name) != r.kernels.end())
        return {};
    return fmt::format("{} orders the warps of kernel {}, which this run did not launch\n",
                       order->name, kernel);
}

}  // namespace

std::string html_page(const RunResult& r, const HeadlessRequest& request) {
    experiments::PageContents page;
    page.title = fmt::format("{}, frame {}", r.experiment, r.frames);
    page.png = r.png;
    for (const auto& [keyword, text] :
         r.png.empty() ? gl::Metadata() : gl::read_png_metadata(r.png))
        if (keyword == "command") page.command = text;
    if (r.checks.has_checks()) page.findings = &r.verdict.findings;
    page.tables = {experiments::results_table(r.report), experiments::counters_table(r.counters),
                   experiments::timings_table(r.kernels)};
    if (r.comparison) page.tables.push_back(experiments::comparison_table(*r.comparison));
    page.source = [&](const std::string& file) -> std::string_view {
        for (const auto& [key, edit] : r.edits)
            if (edit->from == file || compute::kernel_path(key) == file) return edit->source;
        return compute::kernel_source(file);
    };
    if (page.command.empty() && !request.launch.empty())
        page.command = "warpscope --launch " + experiments::shell_word(request.launch.string());
    return experiments::html_page(page);
}

Json to_json(const RunResult& r) {
    Json json = {
        {"device", to_json(r.device)},
        {"experiment", r.experiment},
        {"parameters", r.parameters},
        {"report", to_json(r.report)},
        {"kernels", to_json(r.kernels, r.ceilings)},
        {"ceilings", to_json(r.ceilings)},
        {"gpu", to_json(r.gpu)},
        {"presentation", {{"path", r.presentation.path}, {"reason", r.presentation.reason}}},
        {"frames", r.frames},
        {"partial", partial_json(r.partial)},
        {"seed", r.settings.seed},
        {"schedule", r.settings.turns ? r.settings.turns->name
                                      : std::string(compute::name(r.settings.schedule))},
        {"barriers", compute::name(r.settings.barriers)},
        {"landing", compute::name(r.settings.landing)},
        {"math", compute::name(r.settings.math)}};
    if (r.compared) json["comparison"] = r.comparison ? to_json(*r.comparison) : Json(nullptr);
    if (r.checks.has_checks()) add_verdict(json, r.verdict, r.checks, r.known);
    if (r.why) json["why"] = to_json(*r.why);
    if (r.counted) json["counters"] = to_json(r.counters);
    for (std::size_t k = 0; r.lines && k < r.counters.size(); ++k)
        json["counters"][k]["lines"] = lines_json(r.counters[k], *r.lines, r.edits);
    for (std::size_t k = 0; k < r.heat.size(); ++k)
        json["counters"][k]["heat"] = heat_json(r.heat[k], r.edits);
    if (!r.kernel_files.empty()) json["kernel_source"] = to_json(r.kernel_files);
    if (!r.output.empty()) json["output"] = r.output;
    if (!r.proposal.launch_file.empty()) json["proposal"] = proposal_json(r.proposal);
    return json;
}

std::string summary(const RunResult& r) {
    std::string text =
        fmt::format("{}, {} on {}: {}\n", r.experiment, compute::plural(r.frames, "frame"),
                    r.device.name, r.device.reason);
    if (r.partial) text += partial_line(r);
    text += order_line(r);
    for (const KernelFile& file : r.kernel_files)
        text += fmt::format("{}: {}\n", compute::kernel_path(file.file), file.from.string());
    if (!r.proposal.launch_file.empty()) text += proposal_lines(r.proposal);
    text += "\nresults\n";
    for (const experiments::Reading& reading : r.report) text += reading_lines(reading);
    text += fmt::format("\nkernels{}\n", r.device.kind == compute::DeviceKind::emulator
                                             ? " (emulated: the times are those of this CPU)"
                                             : "");
    for (const compute::KernelTiming& kernel : r.kernels) text += timing_lines(kernel, r.ceilings);
    text += ceiling_lines(r);
    if (!r.output.empty()) text += "\noutput of printf() in kernels\n" + r.output;
    if (r.comparison) text += comparison_text(*r.comparison);
    if (r.counted) text += "\n" + counters_text(r.counters);
    if (r.lines) text += "\n" + lines_text(r.counters, *r.lines, r.edits);
    if (r.hottest) text += "\n" + heat_text(r.heat, *r.hottest, r.edits);
    if (r.why) text += "\n" + why_text(*r.why);
    if (r.checks.has_checks()) text += "\n" + verdict_text(r.verdict, r.checks, r.known);
    if (r.compared && !r.comparison) text += "\nnothing to compare: there is one variant\n";
    return text;
}

void tell_guesses(RunResult& result, const experiments::LaunchPlan& plan,
                  std::span<const experiments::Assignment> values) {
    if (!plan.is_proposed()) return;
    Proposal& proposal = result.proposal;
    proposal.launch_file = launches::to_json_text(plan.file);
    for (const std::string& guess : files::english(plan.guesses))
        if (std::ranges::find(values, guess, &experiments::Assignment::id) == values.end())
            proposal.guesses.push_back(guess);
    for (const compiler::Signature& kernel : plan.signatures)
        if (kernel.entry != plan.launches[0].entry) proposal.not_launched.push_back(kernel.name);
    for (const std::string& name : plan.templates)
        proposal.not_launched.emplace_back(compiler::template_name(name));
    if (proposal.guesses.empty()) return;
    const std::string sentence = fmt::format(
        "This may come from what was guessed for the launch: {}. Write a launch file to be sure.",
        fmt::join(proposal.guesses, ", "));
    if (!result.verdict.error.empty()) result.verdict.error.add(sentence, ". ");
    for (emulator::Finding& finding : result.verdict.findings) {
        finding.severity = std::min(finding.severity, emulator::Severity::warning);
        finding.sentence.add(sentence);
    }
}

bool is_sure(const RunResult& r) {
    return r.proposal.guesses.empty();
}

int exit_code(const RunResult& r) {
    if (experiments::has_failure(r.report)) return 1;
    if (const int status = exit_status(r.verdict, r.fail_on, r.known); is_sure(r) && status)
        return status;
    if (!r.comparison) return 0;
    for (const auto& row : r.comparison->rows) {
        if (row.verdict == experiments::Verdict::fail) return 1;
    }
    return 0;
}

namespace {

using compute::count;
using compute::milliseconds;
using compute::multiple;
using experiments::Comparison;
using experiments::Verdict;

/// fmt pads by code points, and every character here is one column wide.
std::string cell(double value, double first) {
    return fmt::format("{:>8} {:<7}", count(value), multiple(value, first));
}

std::string counts_of(const Comparison::Row& row, const Comparison::Counts& first) {
    if (!row.counts) return std::string(4 * 17, ' ');
    const Comparison::Counts& c = *row.counts;
    return fmt::format("{} {} {} {} ", cell(c.sectors, first.sectors),
                       cell(c.bank_passes, first.bank_passes), cell(c.barriers, first.barriers),
                       cell(c.instructions, first.instructions));
}

std::string ending(const Comparison::Row& row) {
    std::string text = fmt::format("error {:>7}", compute::relative_error(row.error));
    if (row.verdict != Verdict::none) text += fmt::format("  {:8}", to_string(row.verdict));
    return text;
}

std::string counted_rows(const Comparison& c, std::size_t width) {
    std::string text = fmt::format("  {:{}}  {:<16} {:<16} {:<16} instructions/{}\n", "", width,
                                   " sectors", " bank passes", " barriers", c.element);
    for (const Comparison::Row& row : c.rows)
        text += fmt::format("  {:{}}  {} {}  (emulated in {} ms)\n", row.label, width,
                            counts_of(row, *c.rows.front().counts), ending(row),
                            milliseconds(row.median_ms));
    return text + "  × the first row's. The emulator's time says nothing about a GPU.\n";
}

std::string timed_rows(const Comparison& c, std::size_t width) {
    std::string text;
    for (const Comparison::Row& row : c.rows)
        text += fmt::format("  {:{}}  {:>7} ms  {:>24} {:7}  {}\n", row.label, width,
                            milliseconds(row.median_ms), quantity(row.rate, c.rate_unit),
                            multiple(row.rate, c.rows.front().rate), ending(row));
    if (c.published_title.empty()) return text;
    text += "  published: " + c.published_title + ":\n";
    for (const Comparison::Row& row : c.rows)
        if (!row.published.empty())
            text += fmt::format("  {:{}}  {}\n", row.label, width, row.published);
    return text;
}

}  // namespace

std::string comparison_text(const Comparison& c) {
    std::size_t width = 0;
    for (const Comparison::Row& row : c.rows) width = std::max(width, row.label.english().size());
    const std::string rows = c.counted() ? counted_rows(c, width) : timed_rows(c, width);
    return "\n" + c.title + "\n" + rows + (c.scaling.empty() ? "" : "  " + c.scaling + "\n");
}

namespace {

std::string side_text(const std::string& title, std::size_t nodes,
                      const std::vector<std::string>& lines) {
    std::string text = fmt::format("  {}: {}\n", title, compute::plural(nodes, "instruction"));
    for (const std::string& line : lines) text += "    " + line + "\n";
    return text;
}

}  // namespace

Why ask_why(const std::shared_ptr<const experiments::LaunchState>& launch,
            const std::string& element, compute::Helpers* helpers, std::stop_token stop) {
    const experiments::WrongResults results(launch, stop);
    const std::filesystem::path file = launch->entry.launch_file;
    Why why;
    try {
        const experiments::ElementPlace place = results.find(element);
        why.reason = results.why(place, stop);
        if (helpers) why.launch = experiments::captured_launch(file);
        if (why.launch)
            why.history = experiments::word_history(launch, results.results()[place.result].name,
                                                    place.element, *helpers, stop);
    } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("--why: {}", error.what()));
    }
    if (why.reason.word) {
        why.order = why.reason.word->order;
        why.nodes = why.reason.word->run.slice.nodes.size();
        if (why.reason.word->right) why.right_nodes = why.reason.word->right->slice.nodes.size();
    }
    why.slice = files::english(slice_lines(why.reason, false));
    why.right = files::english(slice_lines(why.reason, true));
    return why;
}

namespace {

Json history_json(const std::vector<experiments::WordLink>& history) {
    const auto index = [](const auto& at) { return at ? to_json(*at) : Json(nullptr); };
    Json json = Json::array();
    for (const experiments::WordLink& link : history)
        json.push_back({{"depth", link.depth},
                        {"numbers", link.numbers.english()},
                        {"values", link.values},
                        {"writer", link.writer.english()},
                        {"launch", link.launch ? Json(link.launch) : Json(nullptr)},
                        {"kernel", link.kernel},
                        {"place", link.place},
                        {"block", index(link.block)},
                        {"thread", index(link.thread)}});
    return json;
}

/// Who has written the element and what it was computed from, a line each.
std::string history_text(const std::vector<experiments::WordLink>& history) {
    std::string text =
        "  Who has written it last; below each line, the inputs of its first number:\n";
    for (const experiments::WordLink& link : history)
        text += fmt::format("    {}\n", words_of(link));
    return text;
}

}  // namespace

Json to_json(const Why& why) {
    const experiments::WrongReason& reason = why.reason;
    const auto place = reason.word ? reason.word->place() : std::nullopt;
    return {{"element", reason.element.english()},
            {"found", reason.found.english()},
            {"expected", reason.expected.english()},
            {"brief", reason.brief.english()},
            {"sentence", reason.whole.english()},
            {"block", reason.block ? to_json(*reason.block) : Json(nullptr)},
            {"step", place ? Json(place->step) : Json(nullptr)},
            {"right_order", why.order.empty() ? Json(nullptr) : Json(why.order)},
            {"slice", {{"instructions", why.nodes}, {"lines", why.slice}}},
            {"right_slice", {{"instructions", why.right_nodes}, {"lines", why.right}}},
            {"launch", why.launch ? Json(why.launch->number) : Json(nullptr)},
            {"history", history_json(why.history)}};
}

std::string why_text(const Why& why) {
    const bool is_known = why.reason.found != why.reason.expected;
    std::string text = "why " + why.reason.element.english();
    if (is_known) text += why.reason.is_captured ? " differs" : " is wrong";
    if (why.launch)
        text += fmt::format(", after launch {}, {}", why.launch->number, why.launch->kernel);
    text += is_known ? fmt::format("\n  {}\n  {}\n", why.reason.brief, why.reason.whole)
                     : fmt::format("\n  {}\n", why.reason.whole);
    if (why.reason.word) text += side_text("This run computes it by", why.nodes, why.slice);
    if (!why.order.empty())
        text += side_text(fmt::format("The run in which {} computes it by", why.order),
                          why.right_nodes, why.right);
    return text + (why.history.empty() ? "" : history_text(why.history));
}

}  // namespace warpscope::jobs
