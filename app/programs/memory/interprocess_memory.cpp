#include "programs/memory/interprocess_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "programs/images/status.h"
#include "programs/memory/device_memory.h"

namespace warpscope::programs {

MemoryFile::MemoryFile(std::size_t bytes) : file_(memfd_create("warpscope", MFD_CLOEXEC)) {
    demand(file_ >= 0 && ftruncate(file_, off_t(bytes)) == 0, Status::out_of_memory,
           "the host has no memory for a file that processes share");
}

MemoryFile MemoryFile::of_number(int file) {
    demand(file >= 0, Status::invalid_handle, "the memory of another process is not there");
    MemoryFile taken;
    taken.file_ = file;
    return taken;
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

MemoryFile::~MemoryFile() {
    if (file_ >= 0) close(file_);
}

std::size_t MemoryFile::bytes() const {
    struct stat status {};
    return fstat(file_, &status) == 0 ? std::size_t(status.st_size) : 0;
}

int MemoryFile::release() {
    return std::exchange(file_, -1);
}

MemoryFile MemoryFile::duplicate(int file) {
    const int copy = dup(file);
    demand(copy >= 0, Status::invalid_handle, "the file is not open, or too many files are");
    return of_number(copy);
}

MemoryTicket ticket_for(DeviceMemory& memory, std::uint64_t address) {
    const MemoryBlock* const block = memory.find(address);
    demand(block && block->kind == MemoryKind::device, Status::invalid_value,
           "the address is no memory of the device");
    if (block->file < 0) {
        memory.share(block->begin, MemoryFile(block->bytes).release());
    }
    return {getpid(), block->file, block->bytes, address - block->begin, {}};
}

std::uint64_t open_memory(DeviceMemory& memory, const MemoryTicket& ticket) {
    const std::string path = fmt::format("/proc/{}/fd/{}", ticket.process, ticket.file);
    const MemoryFile file = MemoryFile::of_number(open(path.c_str(), O_RDWR | O_CLOEXEC));
    const std::uint64_t address = memory.reserve(ticket.bytes, memory_granularity);
    demand(memory.allocate_at(address, ticket.bytes, MemoryKind::device, file.number()),
           Status::out_of_memory, "there is no address space for the memory of another process");
    return address + ticket.offset;
}

}  // namespace warpscope::programs
