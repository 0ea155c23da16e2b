// Source: CUDA Driver API, "Stream Management", "Event Management".
#include "programs/driver_api/driver.h"

using namespace warpscope::programs;

namespace {

using Callback = void (*)(StreamHandle stream, Status status, void* data);

constexpr unsigned event_without_time = 2;  // CU_EVENT_DISABLE_TIMING
constexpr unsigned event_of_processes = 4;  // CU_EVENT_INTERPROCESS

}  // namespace

WARPSCOPE_DRIVER(cuStreamCreate, cuStreamCreate, StreamHandle* stream, unsigned flags) {
    return driver_call(__func__, [&](Gpu& gpu) { *stream = gpu.streams().create(flags, 0); });
}
WARPSCOPE_DRIVER(cuStreamCreateWithPriority, cuStreamCreateWithPriority, StreamHandle* stream,
                 unsigned flags, int priority) {
    return driver_call(__func__,
                       [&](Gpu& gpu) { *stream = gpu.streams().create(flags, priority); });
}
WARPSCOPE_DRIVER(cuStreamDestroy, cuStreamDestroy_v2, StreamHandle stream) {
    return driver_call(__func__, [&](Gpu& gpu) {
        demand(stream && gpu.streams().has(stream), Status::invalid_handle,
               "the stream does not exist");
        gpu.streams().destroy(stream);
    });
}
WARPSCOPE_DRIVER(cuStreamSynchronize, cuStreamSynchronize, StreamHandle stream) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.synchronize(stream_of(stream)); });
}
WARPSCOPE_DRIVER(cuStreamQuery, cuStreamQuery, StreamHandle stream) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.streams().query(stream_of(stream).last); });
}
WARPSCOPE_DRIVER(cuStreamWaitEvent, cuStreamWaitEvent, StreamHandle stream, Event* event,
                 unsigned) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.streams().wait(stream_of(stream), event); });
}
WARPSCOPE_DRIVER(cuStreamGetPriority, cuStreamGetPriority, StreamHandle stream, int* priority) {
    return driver_call(__func__, [&](Gpu&) { *priority = stream_of(stream).priority; });
}
WARPSCOPE_DRIVER(cuStreamGetFlags, cuStreamGetFlags, StreamHandle stream, unsigned* flags) {
    return driver_call(__func__, [&](Gpu&) { *flags = stream_of(stream).flags; });
}
WARPSCOPE_DRIVER(cuStreamAddCallback, cuStreamAddCallback, StreamHandle stream, Callback callback,
                 void* data, unsigned) {
    return driver_call(__func__, [&](Gpu& gpu) {
        gpu.call_host(stream_of(stream), [=, &gpu] { callback(stream, gpu.sticky(), data); });
    });
}
WARPSCOPE_DRIVER(cuEventCreate, cuEventCreate, Event** event, unsigned flags) {
    return driver_call(__func__, [&](Gpu& gpu) {
        *event = gpu.streams().create_event(!(flags & event_without_time),
                                            (flags & event_of_processes) != 0);
    });
}
WARPSCOPE_DRIVER(cuEventDestroy, cuEventDestroy_v2, Event* event) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.streams().destroy(event); });
}
WARPSCOPE_DRIVER(cuEventRecord, cuEventRecord, Event* event, StreamHandle stream) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.streams().record(event, stream_of(stream)); });
}
WARPSCOPE_DRIVER(cuEventRecordWithFlags, cuEventRecordWithFlags, Event* event, StreamHandle stream,
                 unsigned) {
    return cuEventRecord(event, stream);
}
WARPSCOPE_DRIVER(cuEventSynchronize, cuEventSynchronize, Event* event) {
    return driver_call(__func__, [&](Gpu& gpu) {
        gpu.streams().finish(event);
        gpu.throw_sticky();
    });
}
WARPSCOPE_DRIVER(cuEventQuery, cuEventQuery, Event* event) {
    return driver_call(__func__,
                       [&](Gpu& gpu) { gpu.streams().query(gpu.streams().checked(event).work); });
}
WARPSCOPE_DRIVER(cuEventElapsedTime, cuEventElapsedTime, float* milliseconds, Event* start,
                 Event* stop) {
    return driver_call(__func__,
                       [&](Gpu& gpu) { *milliseconds = gpu.streams().milliseconds(start, stop); });
}
WARPSCOPE_DRIVER(cuEventElapsedTime_v2, cuEventElapsedTime_v2, float* milliseconds, Event* start,
                 Event* stop) {
    return cuEventElapsedTime(milliseconds, start, stop);
}
