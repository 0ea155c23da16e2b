// Source: CUDA Runtime API and CUDA Driver API, "Stream Management": attributes, which are stored
// and have no effect.
#include "programs/runtime_api/both.h"

using namespace warpscope::programs;

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
