// Source: CUDA Runtime API, "Stream Management", "Event Management".
// Source: CUDA Runtime API and CUDA Driver API, "Stream Management": attributes, which are stored
// and have no effect.
#include "programs/runtime_api/runtime.h"

using namespace warpscope::programs;

namespace {

using Callback = void (*)(StreamHandle stream, Status status, void* data);

constexpr unsigned event_without_time = 2;  // cudaEventDisableTiming
constexpr unsigned event_of_processes = 4;  // cudaEventInterprocess

Status create_stream(const char* function, StreamHandle* stream, unsigned flags, int priority) {
    return runtime_call(function,
                        [&](Gpu& gpu) { *stream = gpu.streams().create(flags, priority); });
}

Status create_event(const char* function, Event** event, unsigned flags) {
    return runtime_call(function, [&](Gpu& gpu) {
        *event = gpu.streams().create_event(!(flags & event_without_time),
                                            (flags & event_of_processes) != 0);
    });
}

Status record(const char* function, Event* event, StreamHandle stream) {
    return runtime_call(function,
                        [&](Gpu& gpu) { gpu.streams().record(event, stream_of(stream)); });
}

}  // namespace

WARPSCOPE_RUNTIME(cudaStreamCreate, StreamHandle* stream) {
    return create_stream(__func__, stream, 0, 0);
}
WARPSCOPE_RUNTIME(cudaStreamCreateWithFlags, StreamHandle* stream, unsigned flags) {
    return create_stream(__func__, stream, flags, 0);
}
WARPSCOPE_RUNTIME(cudaStreamCreateWithPriority, StreamHandle* stream, unsigned flags,
                  int priority) {
    return create_stream(__func__, stream, flags, priority);
}
WARPSCOPE_RUNTIME(cudaStreamDestroy, StreamHandle stream) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        demand(stream && gpu.streams().has(stream), Status::invalid_handle,
               "the stream does not exist");
        gpu.streams().destroy(stream);
    });
}
WARPSCOPE_RUNTIME(cudaStreamSynchronize, StreamHandle stream) {
    return runtime_call(__func__, [&](Gpu& gpu) { gpu.synchronize(stream_of(stream)); });
}
WARPSCOPE_RUNTIME(cudaStreamQuery, StreamHandle stream) {
    return runtime_call(__func__, [&](Gpu& gpu) { gpu.streams().query(stream_of(stream).last); });
}
WARPSCOPE_RUNTIME(cudaStreamWaitEvent, StreamHandle stream, Event* event, unsigned) {
    return runtime_call(__func__, [&](Gpu& gpu) { gpu.streams().wait(stream_of(stream), event); });
}
WARPSCOPE_RUNTIME(cudaStreamGetPriority, StreamHandle stream, int* priority) {
    return runtime_call(__func__, [&](Gpu&) { *priority = stream_of(stream).priority; });
}
WARPSCOPE_RUNTIME(cudaStreamGetFlags, StreamHandle stream, unsigned* flags) {
    return runtime_call(__func__, [&](Gpu&) { *flags = stream_of(stream).flags; });
}
WARPSCOPE_RUNTIME(cudaStreamAddCallback, StreamHandle stream, Callback callback, void* data,
                  unsigned) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        gpu.call_host(stream_of(stream), [=, &gpu] { callback(stream, gpu.sticky(), data); });
    });
}
WARPSCOPE_RUNTIME(cudaEventCreate, Event** event) {
    return create_event(__func__, event, 0);
}
WARPSCOPE_RUNTIME(cudaEventCreateWithFlags, Event** event, unsigned flags) {
    return create_event(__func__, event, flags);
}
WARPSCOPE_RUNTIME(cudaEventDestroy, Event* event) {
    return runtime_call(__func__, [&](Gpu& gpu) { gpu.streams().destroy(event); });
}
WARPSCOPE_RUNTIME(cudaEventRecord, Event* event, StreamHandle stream) {
    return record(__func__, event, stream);
}
WARPSCOPE_RUNTIME(cudaEventRecordWithFlags, Event* event, StreamHandle stream, unsigned) {
    return record(__func__, event, stream);
}
WARPSCOPE_RUNTIME(cudaEventSynchronize, Event* event) {
    return runtime_call(__func__, [&](Gpu& gpu) { gpu.streams().finish(event); });
}
WARPSCOPE_RUNTIME(cudaEventQuery, Event* event) {
    return runtime_call(__func__,
                        [&](Gpu& gpu) { gpu.streams().query(gpu.streams().checked(event).work); });
}
WARPSCOPE_RUNTIME(cudaEventElapsedTime, float* milliseconds, Event* start, Event* stop) {
    return runtime_call(__func__,
                        [&](Gpu& gpu) { *milliseconds = gpu.streams().milliseconds(start, stop); });
}

namespace {

using Value = std::array<std::byte, 64>;  // CUstreamAttrValue

}  // namespace

WARPSCOPE_BOTH(cudaStreamSetAttribute, cuStreamSetAttribute, ,
               (StreamHandle stream, int number, const Value* value),
               stream_of(stream).attributes[number] = *value)
WARPSCOPE_BOTH(cudaStreamGetAttribute, cuStreamGetAttribute, ,
               (StreamHandle stream, int number, Value* value),
               *value = stream_of(stream).attributes[number])
WARPSCOPE_BOTH(cudaStreamCopyAttributes, cuStreamCopyAttributes, ,
               (StreamHandle to, StreamHandle from),
               stream_of(to).attributes = stream_of(from).attributes)
WARPSCOPE_BOTH(cudaCtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache, , (), )
