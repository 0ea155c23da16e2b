// Source: CUDA Runtime API and CUDA Driver API, "Stream Management", "Event Management". Attributes
// are stored and have no effect.
#include "programs/runtime_api/runtime.h"

using namespace warpscope::programs;

namespace {

using Callback = void (*)(StreamHandle stream, Status status, void* data);

constexpr unsigned event_without_time = 2;  // cudaEventDisableTiming, CU_EVENT_DISABLE_TIMING
constexpr unsigned event_of_processes = 4;  // cudaEventInterprocess, CU_EVENT_INTERPROCESS

void create_event(Gpu& gpu, Event** event, unsigned flags) {
    *event = gpu.streams().create_event(!(flags & event_without_time),
                                        (flags & event_of_processes) != 0);
}

}  // namespace

WARPSCOPE_RUNTIME(cudaStreamCreate, StreamHandle* stream) {
    return runtime_call(__func__, [&](Gpu& gpu) { *stream = gpu.streams().create(0, 0); });
}
WARPSCOPE_BOTH(cudaStreamCreateWithFlags, cuStreamCreate, , (StreamHandle * stream, unsigned flags),
               *stream = gpu.streams().create(flags, 0))
WARPSCOPE_BOTH(cudaStreamCreateWithPriority, cuStreamCreateWithPriority, ,
               (StreamHandle * stream, unsigned flags, int priority),
               *stream = gpu.streams().create(flags, priority))
WARPSCOPE_BOTH(cudaStreamDestroy, cuStreamDestroy, _v2, (StreamHandle stream),
               demand(stream != nullptr && gpu.streams().has(stream), Status::invalid_handle,
                      "the stream does not exist");
               gpu.streams().destroy(stream))
WARPSCOPE_BOTH(cudaStreamSynchronize, cuStreamSynchronize, , (StreamHandle stream),
               gpu.synchronize(stream_of(stream)))
WARPSCOPE_BOTH(cudaStreamQuery, cuStreamQuery, , (StreamHandle stream),
               gpu.streams().query(stream_of(stream).last))
WARPSCOPE_BOTH(cudaStreamWaitEvent, cuStreamWaitEvent, ,
               (StreamHandle stream, Event* event, unsigned),
               gpu.streams().wait(stream_of(stream), event))
WARPSCOPE_BOTH(cudaStreamGetPriority, cuStreamGetPriority, , (StreamHandle stream, int* priority),
               *priority = stream_of(stream).priority)
WARPSCOPE_BOTH(cudaStreamGetFlags, cuStreamGetFlags, , (StreamHandle stream, unsigned* flags),
               *flags = stream_of(stream).flags)
WARPSCOPE_BOTH(cudaStreamAddCallback, cuStreamAddCallback, ,
               (StreamHandle stream, Callback callback, void* data, unsigned),
               gpu.call_host(stream_of(stream),
                             [=, &gpu] { callback(stream, gpu.sticky(), data); }))
WARPSCOPE_RUNTIME(cudaEventCreate, Event** event) {
    return runtime_call(__func__, [&](Gpu& gpu) { create_event(gpu, event, 0); });
}
WARPSCOPE_BOTH(cudaEventCreateWithFlags, cuEventCreate, , (Event * *event, unsigned flags),
               create_event(gpu, event, flags))
WARPSCOPE_BOTH(cudaEventDestroy, cuEventDestroy, _v2, (Event * event), gpu.streams().destroy(event))
WARPSCOPE_BOTH(cudaEventRecord, cuEventRecord, , (Event * event, StreamHandle stream),
               gpu.streams().record(event, stream_of(stream)))
WARPSCOPE_BOTH(cudaEventRecordWithFlags, cuEventRecordWithFlags, ,
               (Event * event, StreamHandle stream, unsigned),
               gpu.streams().record(event, stream_of(stream)))
WARPSCOPE_RUNTIME(cudaEventSynchronize, Event* event) {
    return runtime_call(__func__, [&](Gpu& gpu) { gpu.streams().finish(event); });
}
WARPSCOPE_DRIVER(cuEventSynchronize, cuEventSynchronize, Event* event) {
    return driver_call(__func__, [&](Gpu& gpu) {
        gpu.streams().finish(event);
        gpu.throw_sticky();
    });
}
WARPSCOPE_BOTH(cudaEventQuery, cuEventQuery, , (Event * event),
               gpu.streams().query(gpu.streams().checked(event).work))
WARPSCOPE_BOTH(cudaEventElapsedTime, cuEventElapsedTime, ,
               (float* milliseconds, Event* start, Event* stop),
               *milliseconds = gpu.streams().milliseconds(start, stop))
WARPSCOPE_DRIVER(cuEventElapsedTime_v2, cuEventElapsedTime_v2, float* milliseconds, Event* start,
                 Event* stop) {
    return cuEventElapsedTime(milliseconds, start, stop);
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
