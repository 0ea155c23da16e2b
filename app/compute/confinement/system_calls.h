#pragma once

namespace warpscope::compute {

/// Leaves this process the system calls that a compiler needs: it reads files, uses memory, starts
/// threads, and talks on sockets that are open. All others fail with ENOSYS, among them those that
/// open a socket, start a program or reach another process. Needs PR_SET_NO_NEW_PRIVS. It can't be
/// undone, and does nothing where the kernel has no seccomp or the CPU is not x86-64 or aarch64.
void restrict_system_calls();

}  // namespace warpscope::compute
