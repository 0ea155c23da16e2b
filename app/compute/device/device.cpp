#include "compute/device/device.h"

#include <fmt/format.h>

#include "compute/cuda/cuda_device.h"
#include "compute/device/kernel_images.h"
#include "compute/device/kernel_source.h"
#include "compute/emulated/emulated_device.h"

namespace warpscope::compute {

void LoadedKernel::check_argument(std::size_t index, std::size_t expected,
                                  std::size_t given) const {
    if (expected != given)
        throw DeviceError(fmt::format("argument {} of kernel {} has {} bytes, not {}", index, name,
                                      expected, given));
}

void LoadedKernel::check_each_argument(std::span<const std::size_t> expected,
                                       std::span<const std::size_t> given) const {
    if (expected.size() != given.size())
        throw DeviceError(fmt::format("kernel {} takes {} arguments, not {}", name, expected.size(),
                                      given.size()));
    for (std::size_t i = 0; i < given.size(); ++i) check_argument(i, expected[i], given[i]);
}

void Device::set_edits(KernelEdits edits) {
    edits_ = std::move(edits);
    for (const auto& [file, edit] : edits_) used_.push_back(edit);
}

const KernelEdit* Device::edit_of(std::string_view file) {
    files_.emplace(file);
    const auto found = edits_.find(file);
    if (found == edits_.end()) return nullptr;
    if (found->second->math != settings_.math)
        throw DeviceError(
            fmt::format("kernels/{}.cu was compiled for other math: compile it again", file));
    return found->second.get();
}

std::string_view Device::source(std::string_view file) const {
    for (const auto& [name, edit] : edits_)
        if (fmt::format("kernels/{}.cu", name) == file) return edit->source;
    return kernel_source(file);
}

std::string_view kernel_image(std::string_view file, Math math, std::string_view extension) {
    const auto name =
        fmt::format("{}/{}.{}", math == Math::fast ? "fast" : "precise", file, extension);
    const std::string_view image = embedded_kernel_image(name);
    if (image.empty()) throw DeviceError(fmt::format("this build has no kernel image {}", name));
    return image;
}

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
            fmt::format("there is no cuda:{}: the driver shows {} GPU{} (cuda:0{})", ordinal,
                        survey.devices, survey.devices == 1 ? "" : "s",
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
