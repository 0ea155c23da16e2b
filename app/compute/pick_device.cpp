#include "compute/pick_device.h"

#include <fmt/format.h>

#include <stdexcept>

#include "compute/cuda/cuda_device.h"
#include "compute/device/sentences.h"
#include "compute/emulated/emulated_device.h"

namespace warpscope::compute {

std::unique_ptr<Device> pick_device(std::string_view wish) {
    if (wish == "emulator") return make_emulated_device("it was asked for");
    if (wish == "auto") {
        const CudaSurvey& survey = survey_cuda();
        if (survey.devices == 0) return make_emulated_device(survey.reason);
        return make_cuda_device(0, "the first GPU that the driver can use");
    }
    int ordinal = 0;
    if (wish.starts_with("cuda:")) {
        const std::string number(wish.substr(5));
        if (number.empty() || number.size() > 4 ||
            number.find_first_not_of("0123456789") != std::string::npos)
            throw std::invalid_argument(
                fmt::format("device \"{}\": write cuda:N with N = 0, 1, …", wish));
        ordinal = std::stoi(number);
    } else if (wish != "cuda") {
        throw std::invalid_argument(
            fmt::format("device \"{}\" is unknown: use auto, cuda, cuda:N or emulator", wish));
    }
    const CudaSurvey& survey = survey_cuda();
    if (survey.devices == 0)
        throw DeviceError(fmt::format("no GPU to use: {}; --device emulator runs the same kernels",
                                      survey.reason));
    if (ordinal >= survey.devices)
        throw DeviceError(
            fmt::format("there is no cuda:{}: the driver shows {} (cuda:0{})", ordinal,
                        plural(std::uint64_t(survey.devices), "GPU"),
                        survey.devices == 1 ? "" : fmt::format(" to cuda:{}", survey.devices - 1)));
    return make_cuda_device(ordinal, "it was asked for");
}

std::vector<std::string> device_choices() {
    std::vector<std::string> choices{"auto"};
    for (int i = 0; i < survey_cuda().devices; ++i) choices.push_back(fmt::format("cuda:{}", i));
    choices.push_back("emulator");
    return choices;
}

}  // namespace warpscope::compute
