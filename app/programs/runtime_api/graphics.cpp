// Source: CUDA Runtime API, "Graphics Interoperability", "OpenGL Interoperability", and the
// chapters of these names in the CUDA Driver API. Memory of the emulated device stands for a buffer
// or a texture of OpenGL while it is mapped: mapping copies its content there, unmapping copies it
// back.
#include <set>

#include "programs/runtime_api/arrays.h"
#include "programs/runtime_api/opengl.h"
#include "programs/runtime_api/runtime.h"

using namespace warpscope::programs;

namespace {

enum RegisterFlags : unsigned { read_only = 1, write_discard = 2 };  // cudaGraphicsRegisterFlags

struct GraphicsResource {  // cudaGraphicsResource, CUgraphicsResource
    unsigned name = 0;     ///< of the buffer or texture
    unsigned flags = 0;
    std::size_t bytes = 0;   ///< while it is mapped
    Address memory = 0;      ///< of a buffer, while it is mapped
    Array* array = nullptr;  ///< of a texture
    bool is_mapped = false;
};
using Handle = GraphicsResource*;

std::set<Handle>& resources() {
    static auto* const all = new std::set<Handle>;
    return *all;
}

GraphicsResource& checked(Handle handle) {
    demand(resources().contains(handle), Status::invalid_handle,
           "the graphics resource is not registered");
    return *handle;
}

GraphicsResource& mapped(Handle handle) {
    GraphicsResource& resource = checked(handle);
    demand(resource.is_mapped, Status::not_mapped, "the graphics resource is not mapped");
    return resource;
}

Handle registered(const GraphicsResource& resource) {
    return *resources().insert(new GraphicsResource(resource)).first;
}

Handle register_buffer(unsigned buffer, unsigned flags) {
    opengl::buffer_bytes(buffer);  // throws where there is none
    return registered({.name = buffer, .flags = flags});
}

Handle register_texture(Gpu& gpu, unsigned texture, unsigned target, unsigned flags) {
    Array* const array = gpu.arrays().create(opengl::texture_shape(texture, target));
    return registered({.name = texture, .flags = flags, .array = array});
}

void map(Gpu& gpu, GraphicsResource& r, Stream& stream) {
    demand(!r.is_mapped, Status::already_mapped, "the graphics resource is mapped already");
    r.bytes = r.array ? r.array->bytes() : opengl::buffer_bytes(r.name);
    std::vector<std::byte>
        content;  // read first: a resource that OpenGL cannot read stays unmapped
    if (!(r.flags & write_discard))
        content = r.array ? opengl::read_texture(r.name) : opengl::read_buffer(r.name);
    if (!r.array) r.memory = gpu.allocate(r.bytes, MemoryKind::device);
    r.is_mapped = true;
    if (content.empty()) return;
    gpu.copy(r.array ? r.array->memory : r.memory, address(content.data()), content.size(),
             Direction::host_to_device, stream, Return::when_done);
}

void unmap(Gpu& gpu, GraphicsResource& r, Stream& stream) {
    if (!(r.flags & read_only)) {
        std::vector<std::byte> content(r.bytes);
        gpu.copy(address(content.data()), r.array ? r.array->memory : r.memory, content.size(),
                 Direction::device_to_host, stream, Return::when_done);
        if (r.array)
            opengl::write_texture(r.name, content);
        else
            opengl::write_buffer(r.name, content);
    }
    if (!r.array) gpu.free(r.memory);
    r.is_mapped = false;
}

void unregister(Gpu& gpu, Handle handle) {
    GraphicsResource& resource = checked(handle);
    if (resource.is_mapped && !resource.array) gpu.free(resource.memory);
    if (resource.array) gpu.arrays().destroy(resource.array);
    resources().erase(handle);
    delete handle;
}

Array* mapped_array(Handle handle, unsigned index, unsigned level) {
    Array* const array = mapped(handle).array;
    demand(array != nullptr, Status::not_mapped_as_array, "the graphics resource is a buffer");
    demand(index == 0 && level == 0, Status::invalid_value,
           "the texture has one element of its array and one level");
    return array;
}

Address mapped_memory(Handle handle) {
    const GraphicsResource& resource = mapped(handle);
    demand(!resource.array, Status::not_mapped_as_pointer, "the graphics resource is a texture");
    return resource.memory;
}

void give_device(unsigned* count, int* devices, unsigned most) {
    *count = 1;
    if (most > 0) *devices = 0;
}

}  // namespace

WARPSCOPE_BOTH(cudaGraphicsGLRegisterBuffer, cuGraphicsGLRegisterBuffer, ,
               (Handle * to, unsigned buffer, unsigned flags), *to = register_buffer(buffer, flags))
WARPSCOPE_BOTH(cudaGraphicsGLRegisterImage, cuGraphicsGLRegisterImage, ,
               (Handle * to, unsigned texture, unsigned target, unsigned flags),
               *to = register_texture(gpu, texture, target, flags))
WARPSCOPE_BOTH(cudaGraphicsUnregisterResource, cuGraphicsUnregisterResource, , (Handle handle),
               unregister(gpu, handle))
WARPSCOPE_BOTH(cudaGraphicsResourceSetMapFlags, cuGraphicsResourceSetMapFlags, _v2,
               (Handle handle, unsigned flags), checked(handle).flags = flags)
WARPSCOPE_BOTH(cudaGraphicsMapResources, cuGraphicsMapResources, ,
               (unsigned count, Handle* handles, StreamHandle stream),
               for (unsigned i = 0; i < count; ++i)
                   map(gpu, checked(handles[i]), stream_of(stream)))
WARPSCOPE_BOTH(cudaGraphicsUnmapResources, cuGraphicsUnmapResources, ,
               (unsigned count, Handle* handles, StreamHandle stream),
               for (unsigned i = 0; i < count; ++i)
                   unmap(gpu, mapped(handles[i]), stream_of(stream)))
WARPSCOPE_BOTH(cudaGraphicsResourceGetMappedPointer, cuGraphicsResourceGetMappedPointer, _v2,
               (Address * pointer, std::size_t* bytes, Handle handle),
               *pointer = mapped_memory(handle);
               *bytes = handle->bytes)
WARPSCOPE_BOTH(cudaGraphicsSubResourceGetMappedArray, cuGraphicsSubResourceGetMappedArray, ,
               (Array * *array, Handle handle, unsigned index, unsigned level),
               *array = mapped_array(handle, index, level))
WARPSCOPE_BOTH(cudaGLGetDevices, cuGLGetDevices, _v2,
               (unsigned* count, int* devices, unsigned most, int),
               give_device(count, devices, most))
