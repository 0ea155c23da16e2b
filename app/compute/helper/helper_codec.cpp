#include "compute/helper/helper_codec.h"

#include "compute/device/enum_words.h"

namespace warpscope::emulator {
namespace {
using Sizes = std::array<unsigned, 3>;
}

void to_json(nlohmann::json& json, const LaunchShape& shape) {
    json = {shape.dynamic_shared_bytes, shape.cooperative};
    for (const Dim3& d : {shape.grid, shape.block, shape.cluster})
        json.push_back(Sizes{d.x, d.y, d.z});
}

void from_json(const nlohmann::json& json, LaunchShape& shape) {
    json.at(0).get_to(shape.dynamic_shared_bytes);
    json.at(1).get_to(shape.cooperative);
    std::size_t at = 2;
    for (Dim3* d : {&shape.grid, &shape.block, &shape.cluster}) {
        const auto sizes = json.at(at++).get<Sizes>();
        *d = {sizes[0], sizes[1], sizes[2]};
    }
}

}  // namespace warpscope::emulator

namespace warpscope::compute {
namespace {

using Json = nlohmann::json;

/// Skips one value in CBOR. The library's reader calls itself for an array in an array, and for the
/// parts of a text without a length: a hostile frame could use up the stack.
void skip_value(std::string_view& left, int depth) {
    const auto take = [&](std::uint64_t bytes) {
        if (bytes > left.size()) throw WireError("values end too early");
        const std::string_view taken = left.substr(0, bytes);
        left.remove_prefix(bytes);
        return taken;
    };
    const auto first = std::uint8_t(take(1).front());
    const unsigned kind = first >> 5, size = first & 31;
    if (size > 27 || depth == 0) throw WireError("values are nested too deep");
    std::uint64_t number = size < 24 ? size : 0;
    if (size >= 24)
        for (const char byte : take(1U << (size - 24))) number = number << 8 | std::uint8_t(byte);
    const bool is_text = kind == 2 || kind == 3, is_array = kind == 4, is_object = kind == 5;
    if ((is_array || is_object) && number > left.size()) throw WireError("values end too early");
    if (is_text) take(number);
    if (is_array || is_object)
        for (number *= is_object ? 2 : 1; number > 0; --number) skip_value(left, depth - 1);
}

template <class Enum>
void check_in_words(Enum value) {
    for (const Word<Enum>& word : words_of<Enum>)
        if (word.value == value) return;
    throw WireError("a value of an enumeration is unknown");
}

template <class Enum>
void check_at_most(Enum value, Enum last) {
    if (value < Enum(0) || value > last) throw WireError("a value of an enumeration is unknown");
}

}  // namespace

void check(Math math) {
    check_in_words(math);
}

void check(const DeviceInfo& info) {
    check_in_words(info.kind);
}

void check(const RunSettings& settings) {
    check_in_words(settings.math);
    check_in_words(settings.schedule);
    check_in_words(settings.barriers);
    check_in_words(settings.landing);
}

void check(const emulator::Texture& texture) {
    using emulator::Texture;
    check_at_most(texture.slices_are, Texture::Slices::faces);
    check_at_most(texture.numbers, Texture::Numbers::float_);
    for (const auto mode : texture.address) check_at_most(mode, emulator::TextureAddress::border);
}

void check(const std::vector<compiler::Diagnostic>& diagnostics) {
    for (const compiler::Diagnostic& d : diagnostics)
        check_at_most(d.severity, compiler::Severity::error);
}

void put_array(WireWriter& to, const Json& array) {
    std::string cbor;
    Json::to_cbor(array, cbor);
    to.text(cbor);
}

Json get_array(WireReader& from, std::size_t count) {
    const std::string_view cbor = from.text();
    std::string_view left = cbor;
    skip_value(left, 8);
    Json read = Json::from_cbor(cbor, true, false);
    if (!read.is_array() || read.size() != count) throw WireError("a frame has other values");
    return read;
}

void put(WireWriter& to, const KernelEdits& edits) {
    put(to, edits.size());
    for (const auto& [file, edit] : edits) put(to, file, edit->math).text(edit->ptx);
}

KernelEdits kernel_edits(WireReader& from) {
    KernelEdits edits;
    for (auto left = get<std::size_t>(from); left > 0; --left) {
        auto edit = std::make_shared<KernelEdit>();
        std::tie(edit->file, edit->math) = get<std::string, Math>(from);
        edit->ptx = from.text();
        edits[edit->file] = std::move(edit);
    }
    return edits;
}

void put(WireWriter& to, const compiler::Request& request) {
    put(to, request.file, request.fast_math, request.debug_info, request.target, request.names,
        request.headers.size())
        .text(request.source);
    for (const compiler::Header& header : request.headers) to.text(header.name).text(header.text);
}

compiler::Request compile_request(WireReader& from) {
    compiler::Request request;
    std::size_t headers = 0;
    std::tie(request.file, request.fast_math, request.debug_info, request.target, request.names,
             headers) =
        get<std::string, bool, bool, unsigned, std::vector<std::string>, std::size_t>(from);
    request.source = from.text();
    for (; headers > 0; --headers) {
        compiler::Header& header = request.headers.emplace_back();
        header.name = from.text();
        header.text = from.text();
    }
    return request;
}

void put(WireWriter& to, const compiler::Compiled& compiled) {
    put(to.text(compiled.ptx), compiled.warnings);
}

compiler::Compiled compiled(WireReader& from) {
    compiler::Compiled compiled;
    compiled.ptx = from.text();
    compiled.warnings = get<std::vector<compiler::Diagnostic>>(from);
    return compiled;
}

void throw_if_failed(WireReader& answer) {
    if (answer.word() == std::uint32_t(HelperAnswer::done)) return;
    const std::string words(answer.text());
    switch (HelperAnswer(answer.word())) {
        case HelperAnswer::out_of_memory:
            throw OutOfMemory(words);
        case HelperAnswer::device_lost:
            throw DeviceLost(words);
        case HelperAnswer::device_error:
        case HelperAnswer::failed:
            throw DeviceError(words);
        case HelperAnswer::compile_error:
            throw compiler::CompileError(words, get<std::vector<compiler::Diagnostic>>(answer));
        case HelperAnswer::no_compiler:
            throw compiler::NoCompiler(words);
        case HelperAnswer::hello:
        case HelperAnswer::done:
            break;
    }
    throw WireError("the kind of an answer is unknown");
}

WireWriter failed_answer() {
    const auto answer = [](HelperAnswer kind, const std::exception& error) {
        WireWriter frame(kind);
        frame.text(error.what());
        return frame;
    };
    try {
        throw;
    } catch (const WireError&) {
        throw;
    } catch (const DeviceLost& error) {
        return answer(HelperAnswer::device_lost, error);
    } catch (const OutOfMemory& error) {
        return answer(HelperAnswer::out_of_memory, error);
    } catch (const DeviceError& error) {
        return answer(HelperAnswer::device_error, error);
    } catch (const compiler::CompileError& error) {
        auto frame = answer(HelperAnswer::compile_error, error);
        put(frame, error.diagnostics);
        return frame;
    } catch (const compiler::NoCompiler& error) {
        return answer(HelperAnswer::no_compiler, error);
    } catch (const std::exception& error) {
        return answer(HelperAnswer::failed, error);
    }
}

}  // namespace warpscope::compute
