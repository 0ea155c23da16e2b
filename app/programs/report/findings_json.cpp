#include "programs/report/findings_json.h"

#include <optional>
#include <utility>

namespace warpscope::programs {
namespace {

using Json = nlohmann::ordered_json;

Json index_json(const emulator::Dim3& index) {
    return Json::array({index.x, index.y, index.z});
}

Json party_json(const emulator::ThreadAtLine& party, bool by_host) {
    Json inlined = Json::array();
    for (const emulator::HeaderLine& header : party.inlined)
        inlined.push_back(
            {{"file", header.file}, {"line", header.line}, {"toolkit", header.toolkit}});
    return {{"file", party.file.empty() ? Json(nullptr) : Json(party.file)},
            {"line", party.line},
            {"inlined", std::move(inlined)},
            {"thread", by_host ? Json(nullptr) : index_json(party.thread)},
            {"block", by_host ? Json(nullptr) : index_json(party.block)}};
}

/// {sentence, preemptions, turns, schedule}, the last two of an order that was found.
Json witness_json(const std::optional<emulator::WitnessWords>& witness) {
    if (!witness) return nullptr;
    return {{"sentence", witness->sentence.english()},
            {"preemptions", witness->preemptions ? Json(*witness->preemptions) : Json(nullptr)},
            {"turns", files::english(witness->turns)},
            {"schedule", witness->schedule.empty() ? Json(nullptr) : Json(witness->schedule)}};
}

/// {sentence, launches, wrong, wrong_delayed}
Json provocation_json(const std::optional<emulator::Provocation>& provocation) {
    if (!provocation) return nullptr;
    return {{"sentence", provocation->sentence.english()},
            {"launches", provocation->launches},
            {"wrong", provocation->wrong},
            {"wrong_delayed", provocation->wrong_delayed}};
}

}  // namespace

Json findings_json(const std::vector<emulator::Finding>& findings) {
    Json json = Json::array();
    for (const emulator::Finding& f : findings) {
        json.push_back(
            {{"kind", to_string(f.kind)},
             {"severity", to_string(f.severity)},
             {"kernel", f.kernel},
             {"hazard", to_string(f.hazard).empty() ? Json(nullptr) : Json(to_string(f.hazard))},
             {"first", party_json(f.first, f.by_host)},
             {"second", f.second ? party_json(*f.second, f.by_host) : Json(nullptr)},
             {"address", f.byte ? Json(*f.byte) : Json(nullptr)},
             {"count", f.count},
             {"repaired_too", findings_json(f.repaired_too)},
             {"witness", witness_json(f.witness)},
             {"provocation", provocation_json(f.provocation)},
             {"sentence", f.sentence.english()}});
    }
    return json;
}

}  // namespace warpscope::programs
