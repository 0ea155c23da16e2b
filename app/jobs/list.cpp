#include "jobs/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "experiments/framework/experiment.h"
#include "experiments/launch/gallery.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

namespace {

using experiments::Entry;
using experiments::Parameter;

constexpr std::size_t page_columns = 100;

std::string full_id(const Entry& entry, const Parameter& parameter) {
    return entry.id + "." + parameter.id();
}

struct Widths {
    std::size_t id = 9;
    std::size_t type = 7;
    std::size_t initial = 7;
};

Widths widths_of(const Entry& entry, const experiments::ParameterSet& parameters) {
    Widths w;
    for (const Parameter* p : parameters.all()) {
        w.id = std::max(w.id, full_id(entry, *p).size());
        w.type = std::max(w.type, p->type().size());
        w.initial = std::max(w.initial, p->default_text().size());
    }
    return w;
}

void append_parameter(std::string& out, const Entry& entry, const Parameter& p, const Widths& w) {
    const std::string initial = p.default_text().empty() ? "-" : p.default_text();
    std::string left = fmt::format("  {:{}}  {:{}}  {:{}}  ", full_id(entry, p), w.id, p.type(),
                                   w.type, initial, w.initial);
    const std::size_t indent = left.size();
    std::vector<std::string> right = wrap(p.range(), page_columns - indent);
    for (std::string& line : wrap(p.help(), page_columns - indent))
        right.push_back(std::move(line));
    for (const std::string& line : right) {
        if (line.empty()) continue;
        out += left + line + "\n";
        left.assign(indent, ' ');
    }
}

}  // namespace

std::string list_text() {
    std::string out;
    for (const Entry& entry : experiments::registry()) {
        const auto parameters = entry.make_parameters();
        const Widths w = widths_of(entry, *parameters);
        if (!out.empty()) out += "\n";
        out += fmt::format("{}: {}\n", entry.id, entry.title);
        for (const std::string& line : wrap(entry.summary.english(), page_columns - 2)) {
            out += "  " + line + "\n";
        }
        out += fmt::format("\n  {:{}}  {:{}}  {:{}}  values and meaning\n", "parameter", w.id,
                           "type", w.type, "default", w.initial);
        for (const Parameter* p : parameters->all()) append_parameter(out, entry, *p, w);
    }
    out += "\ngallery: kernels with launch files, for --launch NAME\n\n";
    for (const experiments::GalleryKernel& kernel : experiments::gallery())
        out += fmt::format("  {:16}  {}\n", kernel.name, kernel.shows);
    return out;
}

Json list_json() {
    Json list = Json::array();
    for (const Entry& entry : experiments::registry()) {
        const auto parameters = entry.make_parameters();
        Json listed = Json::array();
        for (const Parameter* p : parameters->all()) {
            listed.push_back({{"id", full_id(entry, *p)},
                              {"label", p->label()},
                              {"type", p->type()},
                              {"range", p->range()},
                              {"default", value_json(*p, p->default_text())},
                              {"help", p->help()}});
        }
        list.push_back({{"id", entry.id},
                        {"title", entry.title},
                        {"summary", entry.summary.english()},
                        {"parameters", std::move(listed)}});
    }
    Json kernels = Json::array();
    for (const experiments::GalleryKernel& kernel : experiments::gallery())
        kernels.push_back(
            {{"name", kernel.name}, {"title", kernel.title}, {"summary", kernel.shows}});
    return {{"experiments", std::move(list)}, {"gallery", std::move(kernels)}};
}

int run_list(const std::string& json) {
    if (!json.empty() && json != "-") check_writable(json, "--json");
    if (json.empty()) {
        print(list_text());
    } else if (json == "-") {
        print(dump(list_json()));
    } else {
        write_file(json, dump(list_json()));
    }
    return 0;
}

}  // namespace warpscope::jobs
