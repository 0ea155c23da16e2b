// Ends in the way that the argument names, after a launch that races: a barrier is missing.
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <csignal>
#include <string>

#include "book.h"

__global__ void reverse(int* values) {
    __shared__ int copies[64];
    copies[threadIdx.x] = values[threadIdx.x];
    values[threadIdx.x] = copies[63 - threadIdx.x];
}

int* values;

void launch() {
    reverse<<<1, 64>>>(values);
}

int main(int, char** arguments) {
    const std::string ending = arguments[1];
    if (ending == "child") {  // that uses CUDA, unlike its parent
        const pid_t child = fork();
        if (!child) {
            HANDLE_ERROR(cudaMallocManaged(&values, 64 * sizeof(int)));
            launch();
            HANDLE_ERROR(cudaDeviceSynchronize());
            _exit(0);
        }
        waitpid(child, nullptr, 0);
        return 0;
    }
    HANDLE_ERROR(cudaMallocManaged(&values, 64 * sizeof(int)));
    launch();
    if (ending == "pending") _exit(0);
    HANDLE_ERROR(cudaDeviceSynchronize());
    if (ending == "exit") return 0;
    if (ending == "_exit") _exit(0);
    if (ending == "_Exit") std::_Exit(0);
    if (ending == "quick_exit") std::quick_exit(0);
    if (ending == "abort") std::abort();
    if (ending == "assert") assert(ending.empty());
    if (ending == "SEGV") *static_cast<volatile int*>(nullptr) = 1;
    if (ending == "KILL") std::raise(SIGKILL);
    if (ending == "throw") throw 1;
    if (ending == "FPE") std::raise(SIGFPE);
    if (ending == "INT") std::raise(SIGINT);
    if (ending == "TERM") kill(getpid(), SIGTERM);
    if (ending == "handler") {
        std::signal(SIGALRM, [](int) { _exit(0); });
        std::raise(SIGALRM);
    }
    if (ending == "execl") execl(arguments[0], arguments[0], "exit", nullptr);
    if (ending == "execv") {
        char name[] = "true";
        char* const others[] = {name, nullptr};
        execvp("/no/such/program", others);
        execv("/bin/true", others);
    }
    if (ending == "vfork") {  // what the child of a process does that has used CUDA is not told
        const pid_t child = vfork();
        if (!child) {
            execl("/no/such/program", "program", nullptr);
            _exit(3);
        }
        int status = 0;
        waitpid(child, &status, 0);
        std::printf("%d\n", WEXITSTATUS(status));
        return 0;
    }
    if (ending == "fork") {
        const pid_t child = fork();
        if (!child) {
            std::printf("child: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
            std::fflush(stdout);
            _exit(0);
        }
        waitpid(child, nullptr, 0);
        return 0;
    }
    return 2;
}
