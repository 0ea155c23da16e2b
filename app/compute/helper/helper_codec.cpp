#include "compute/helper/helper_codec.h"

#include "compute/device/enum_words.h"

namespace warpscope::compute {
namespace {

/// Reads a value of an enum that has words.
template <class Enum>
Enum value_of(WireReader& from) {
    const auto read = Enum(from.get<std::uint8_t>());
    for (const Word<Enum>& word : words_of<Enum>)
        if (word.value == read) return read;
    throw WireError("a value of an enumeration is unknown");
}

compiler::Severity severity(WireReader& from) {
    const auto read = compiler::Severity(from.get<std::uint8_t>());
    switch (read) {
        case compiler::Severity::note:
        case compiler::Severity::warning:
        case compiler::Severity::error:
            return read;
    }
    throw WireError("a severity is unknown");
}

void put(WireWriter& to, const std::vector<std::string>& texts) {
    to.put(std::uint32_t(texts.size()));
    for (const std::string& text : texts) to.text(text);
}

std::vector<std::string> texts(WireReader& from) {
    std::vector<std::string> all;
    for (auto left = from.get<std::uint32_t>(); left > 0; --left) all.emplace_back(from.text());
    return all;
}

}  // namespace

Math math(WireReader& from) {
    return value_of<Math>(from);
}

void put(WireWriter& to, const DeviceInfo& info) {
    to.put(std::uint8_t(info.kind)).text(info.name).text(info.reason).put(info.ordinal);
    to.text(info.pci_bus_id).put(info.compute_capability).put(info.multiprocessors);
    to.put(std::uint64_t(info.cache_bytes)).put(std::uint64_t(info.memory_bytes));
    to.put(info.max_block_threads).put(std::uint64_t(info.max_shared_bytes));
}

DeviceInfo device_info(WireReader& from) {
    DeviceInfo info;
    info.kind = value_of<DeviceKind>(from);
    info.in_helper = true;
    info.name = from.text();
    info.reason = from.text();
    info.ordinal = from.get<int>();
    info.pci_bus_id = from.text();
    info.compute_capability = from.get<int>();
    info.multiprocessors = from.get<int>();
    info.cache_bytes = from.get<std::uint64_t>();
    info.memory_bytes = from.get<std::uint64_t>();
    info.max_block_threads = from.get<unsigned>();
    info.max_shared_bytes = from.get<std::uint64_t>();
    return info;
}

void put(WireWriter& to, const RunSettings& settings) {
    to.put(std::uint8_t(settings.math)).put(std::uint8_t(settings.schedule));
    to.put(settings.seed)
        .put(std::uint8_t(settings.barriers))
        .put(std::uint8_t(settings.landing))
        .put(std::uint8_t(settings.waits_for_compiler));
}

RunSettings run_settings(WireReader& from) {
    RunSettings settings;
    settings.math = math(from);
    settings.schedule = value_of<Schedule>(from);
    settings.seed = from.get<std::uint64_t>();
    settings.barriers = value_of<BarrierPolicy>(from);
    settings.landing = value_of<Landing>(from);
    settings.waits_for_compiler = from.get<std::uint8_t>() != 0;
    return settings;
}

void put(WireWriter& to, const LaunchShape& shape) {
    for (const Dim3& d : {shape.grid, shape.block, shape.cluster}) to.put(d.x).put(d.y).put(d.z);
    to.put(shape.dynamic_shared_bytes).put(std::uint8_t(shape.cooperative));
}

LaunchShape shape(WireReader& from) {
    LaunchShape shape;
    for (Dim3* d : {&shape.grid, &shape.block, &shape.cluster}) {
        d->x = from.get<unsigned>();
        d->y = from.get<unsigned>();
        d->z = from.get<unsigned>();
    }
    shape.dynamic_shared_bytes = from.get<unsigned>();
    shape.cooperative = from.get<std::uint8_t>() != 0;
    return shape;
}

void put(WireWriter& to, const emulator::Texture& t) {
    to.put(t.memory)
        .put(t.width)
        .put(t.height)
        .put(t.depth)
        .put(t.pitch)
        .put(t.channels)
        .put(t.bytes);
    for (const auto value :
         {int(t.slices_are), int(t.numbers), int(t.linear), int(t.normalized_coordinates),
          int(t.normalized_numbers), int(t.read_by_index), int(t.address[0]), int(t.address[1]),
          int(t.address[2])})
        to.put(std::uint8_t(value));
}

emulator::Texture texture(WireReader& from) {
    emulator::Texture t;
    t.memory = from.get<std::uint64_t>();
    t.width = from.get<std::uint32_t>();
    t.height = from.get<std::uint32_t>();
    t.depth = from.get<std::uint32_t>();
    t.pitch = from.get<std::uint64_t>();
    t.channels = from.get<std::uint32_t>();
    t.bytes = from.get<std::uint32_t>();
    const auto value = [&](int most) {
        const auto found = from.get<std::uint8_t>();
        if (found > most) throw WireError("an unknown kind of texture");
        return found;
    };
    t.slices_are = emulator::Texture::Slices(value(2));
    t.numbers = emulator::Texture::Numbers(value(2));
    t.linear = value(1) != 0;
    t.normalized_coordinates = value(1) != 0;
    t.normalized_numbers = value(1) != 0;
    t.read_by_index = value(1) != 0;
    for (auto& mode : t.address) mode = emulator::TextureAddress(value(3));
    return t;
}

void put(WireWriter& to, const std::vector<compiler::Diagnostic>& diagnostics) {
    to.put(std::uint32_t(diagnostics.size()));
    for (const compiler::Diagnostic& d : diagnostics)
        to.put(d.line).put(d.column).put(std::uint8_t(d.severity)).text(d.text);
}

std::vector<compiler::Diagnostic> diagnostics(WireReader& from) {
    std::vector<compiler::Diagnostic> all;
    for (auto left = from.get<std::uint32_t>(); left > 0; --left) {
        compiler::Diagnostic& d = all.emplace_back();
        d.line = from.get<int>();
        d.column = from.get<int>();
        d.severity = severity(from);
        d.text = from.text();
    }
    return all;
}

void put(WireWriter& to, const compiler::Request& request) {
    to.text(request.file).text(request.source);
    to.put(std::uint8_t(request.fast_math)).put(std::uint8_t(request.debug_info));
    to.put(std::uint32_t(request.target));
    put(to, request.names);
    to.put(std::uint32_t(request.headers.size()));
    for (const compiler::Header& header : request.headers) to.text(header.name).text(header.text);
}

compiler::Request compile_request(WireReader& from) {
    compiler::Request request;
    request.file = from.text();
    request.source = from.text();
    request.fast_math = from.get<std::uint8_t>() != 0;
    request.debug_info = from.get<std::uint8_t>() != 0;
    request.target = from.get<std::uint32_t>();
    request.names = texts(from);
    for (auto left = from.get<std::uint32_t>(); left > 0; --left) {
        compiler::Header& header = request.headers.emplace_back();
        header.name = from.text();
        header.text = from.text();
    }
    return request;
}

void put(WireWriter& to, const compiler::Compiled& compiled) {
    to.text(compiled.ptx);
    put(to, compiled.warnings);
}

compiler::Compiled compiled(WireReader& from) {
    compiler::Compiled compiled;
    compiled.ptx = from.text();
    compiled.warnings = diagnostics(from);
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
            throw compiler::CompileError(words, diagnostics(answer));
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
