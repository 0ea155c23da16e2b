#include "jobs/output/json.h"

#include <cmath>
#include <cstdlib>

#include "compute/device/enum_words.h"

namespace warpscope::jobs {

namespace {

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}
Json rate(double value) {
    return value > 0 ? number(value) : Json(nullptr);
}
Json counts_json(const experiments::Comparison::Counts& counts) {
    return {{"sectors", number(counts.sectors)},
            {"bank_passes", number(counts.bank_passes)},
            {"barriers", number(counts.barriers)},
            {"instructions_per_element", number(counts.instructions)}};
}

}  // namespace

Json to_json(compute::Dim3 d) {
    return Json::array({d.x, d.y, d.z});
}

Json to_json(const compute::DeviceInfo& info) {
    return {{"name", info.name}, {"kind", compute::name(info.kind)}, {"reason", info.reason}};
}

Json value_json(const experiments::Parameter& parameter, std::string_view text) {
    const std::string value(text);
    if (parameter.type() == "integer") return std::strtoll(value.c_str(), nullptr, 10);
    if (parameter.type() == "real") return number(std::strtod(value.c_str(), nullptr));
    return value;
}

Json to_json(std::string_view experiment, const experiments::ParameterSet& parameters) {
    Json json = Json::object();
    for (const experiments::Parameter* p : parameters.all()) {
        json[std::string(experiment) + "." + p->id()] = value_json(*p, p->text());
    }
    return json;
}

Json to_json(const experiments::Report& report) {
    Json json = Json::array();
    for (const experiments::Reading& r : report) {
        Json recent = Json::array();
        for (const double value : r.recent) recent.push_back(number(value));
        Json parts = Json::object();
        for (const auto& [label, ms] : r.parts) parts[label] = number(ms);
        json.push_back({{"name", r.name},
                        {"label", r.label.english()},
                        {"value", number(r.value)},
                        {"unit", r.unit},
                        {"expected", r.expected ? number(*r.expected) : Json(nullptr)},
                        {"verdict", experiments::to_string(r.verdict)},
                        {"sentence", r.sentence.english()},
                        {"recent", std::move(recent)},
                        {"parts_ms", std::move(parts)}});
    }
    return json;
}

Json to_json(const std::vector<compute::KernelTiming>& kernels, const compute::Ceilings* ceilings) {
    Json json = Json::array();
    for (const compute::KernelTiming& k : kernels) {
        const auto shares = ceilings ? compute::shares_of(k, *ceilings) : compute::CeilingShares{};
        const std::string note = compute::timing_note(k, ceilings);
        json.push_back(
            {{"name", k.name},
             {"grid", to_json(k.grid)},
             {"block", to_json(k.block)},
             {"shared_bytes", k.resources.shared_bytes},
             {"registers", k.resources.registers ? Json(k.resources.registers) : Json(nullptr)},
             {"launches", k.launches},
             {"last_ms", number(k.last_ms())},
             {"median_ms", number(k.median_ms())},
             {"p99_ms", number(k.p99_ms())},
             {"bytes_per_second", rate(k.bytes_per_second())},
             {"interactions_per_second", rate(k.interactions_per_second())},
             {"flops_per_second", rate(k.flops_per_second())},
             {"share_of_bandwidth", rate(shares.of_bandwidth)},
             {"share_of_fp32", rate(shares.of_fp32)},
             {"note", note.empty() ? Json(nullptr) : Json(note)}});
    }
    return json;
}

Json to_json(const compute::Ceilings* c) {
    if (!c) return nullptr;
    return {{"bytes_per_second", number(c->bytes_per_second)},
            {"read_bytes_per_second", number(c->read_bytes_per_second)},
            {"flops_per_second", number(c->flops_per_second)},
            {"lone_launch_ms", number(c->lone_launch_ms)},
            {"queued_launch_ms", number(c->queued_launch_ms)},
            {"resolution_ms", number(c->resolution_ms)},
            {"cache_bytes", c->cache_bytes},
            {"gpu", to_json(c->gpu)}};
}

Json to_json(const std::optional<compute::GpuState>& state) {
    if (!state) return nullptr;
    return {{"sm_clock_mhz", state->sm_clock_mhz},
            {"max_sm_clock_mhz", state->max_sm_clock_mhz},
            {"memory_clock_mhz", state->memory_clock_mhz},
            {"power_w", number(state->power_w)},
            {"temperature_c", state->temperature_c},
            {"throttled_by", state->throttled_by}};
}

Json to_json(const experiments::Comparison& comparison) {
    Json rows = Json::array();
    for (const experiments::Comparison::Row& row : comparison.rows) {
        rows.push_back({{"id", row.id},
                        {"label", row.label.english()},
                        {"median_ms", number(row.median_ms)},
                        {"p99_ms", number(row.p99_ms)},
                        {"rate", number(row.rate)},
                        {"error", number(row.error)},
                        {"verdict", experiments::to_string(row.verdict)},
                        {"published", row.published},
                        {"counts", row.counts ? counts_json(*row.counts) : Json(nullptr)}});
    }
    return {{"title", comparison.title},     {"rate_unit", comparison.rate_unit},
            {"element", comparison.element}, {"published_title", comparison.published_title},
            {"rows", std::move(rows)},       {"scaling", comparison.scaling}};
}

std::string dump(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpscope::jobs
