#include "help_text.h"

#include <algorithm>
#include <string_view>

namespace warpscope {

const char* const help_footer = R"(Examples:
  warpscope                                    open the window
  warpscope --experiment ripple --set ripple.sync=off
                                               start without __syncthreads()
  warpscope --experiment nbody --bodies galaxy.bin
  warpscope --headless --experiment nbody --set nbody.kernel=tiled --frames 100 --json -
  warpscope --headless --experiment ripple --set ripple.sync=off --seed 7 \
            --screenshot ripple.png --view-only
  warpscope --check race,barrier --experiment dot --set dot.kernel=divergent
                                               which threads race, at which lines, and why
  warpscope --counters --experiment nbody --set nbody.kernel=tiled
                                               memory traffic and bank conflicts of each kernel
  warpscope --kernel-source my.cu              a kernel of your own, compiled again when you save it
  warpscope --check race,memory --experiment ripple --kernel-source my_ripple.cu
                                               check a changed kernel of an experiment
  warpscope --check race,memory --launch mine.launch.json
                                               run any kernel with your buffers and check it
  warpscope my.cu ARGUMENTS                    compile a CUDA program, run it, and show its launches
  warpscope --check race,barrier,memory my.cu ARGUMENTS
                                               compile it, run it in the emulator, and check it
  warpscope --check race,barrier,memory -- ./app ARGUMENTS
                                               check a program that is compiled already
  warpscope --why "y[12]" my.cu ARGUMENTS      which launch, line and thread wrote y[12], and what
                                               it was computed from, back through the launches
  warpscope --lesson 2 --check solution.cu     grade a solution of a lesson, or a folder of them
  warpscope --list                             every experiment and parameter

--check uses the emulator even if there is a GPU. It finds, with "race": accesses of one word by
two threads, in shared or global memory, that nothing orders, and reads of shared memory that no
thread of the block has written; with "barrier": barriers that not every thread reaches; with
"memory": accesses outside of allocated memory, and reads of global memory that was never written;
of a program, also wrong calls and accesses of its host code, and races between streams.
"leaks" is "memory", and what such a program never frees. "needed": what depends on each barrier,
fence and wait, which is advice.

A finding does not fail where --baseline FILE has it, by its kernel and the text of its source
lines; where a group of --suppressions FILE fits; or where a comment is at one of its lines:
// warpscope: allow race: REASON. --write-baseline FILE writes what is not suppressed; without
--baseline, all of it is then known.

--barriers sets the rule for barriers in the emulator. volta (Volta and later): a barrier waits for
every thread that has not exited. before-volta: a barrier counts one arrival of a warp for all lanes
of the warp. strict (PTX ISA): a warp that arrives without all its lanes is an error.

--target compiles every source for one compute capability. Without it, a source is compiled for 75,
or for 80 or 90 where it uses what only newer GPUs have, or where the compiler asks for that.

--landing says when the asynchronous copies of a kernel (cp.async, cp.async.bulk) write their
destination: at a random moment, by the seed; at once; or late, when a thread waits for them and no
thread can go on. What --check finds does not depend on it.

A program, FILE.cu or what follows --, needs no change and no GPU: its launches run in the emulator.
Its output, its input and its exit status stay; the report goes to standard error. nvcc compiles
FILE.cu; options for it may also stand in a comment on one of its first lines: // nvcc: -lcublas.
A program after -- was compiled with nvcc -g -lineinfo, so that findings name lines of the source.

Of a launch of a program that takes long, --check watches a sample of the blocks: at the ends, the
edges and inside of the grid, with their neighbours. The others run unwatched, and the report says
how many there were. --blocks all watches all of them.

--confined takes from a program, and from nvcc before it, the network, other processes, and all
files but temporary ones; what was refused is said at the end. --time-limit S ends a program after
S seconds.

SIGINT (Ctrl+C) and SIGTERM end a run without a window early: it writes the results so far, marked
as partial, and then ends by the signal. A second signal ends it at once.

Exit status: 0 for success; 1 if a result has the verdict "fail", if a check finds an error or a
warning (with --fail-on error: an error) that is neither known nor suppressed, or if the device, the
window or a write fails; 2 if an argument can't be used or a source does not compile; 3 if a time
limit ended the run before anything was found. A program gives its own exit status, or 1 where a
check finds something. A run that was ended early ends by its signal: the status in shells is 130
for SIGINT and 143 for SIGTERM.)";

std::string help_of(std::string text) {
    text += "\n";
    constexpr std::string_view options = "[OPTIONS]";  // what follows -- is not CLI11's
    text.insert(text.find(options) + options.size(),
                " [FILE.cu ARGUMENTS... | -- PROGRAM ARGUMENTS...]");
    for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
}

std::string one_line_of(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (!text.empty() && text.back() == ' ') text.pop_back();
    const std::string option = text.substr(0, text.find(':'));
    if (text.ends_with(" missing")) return option + ": a value must follow";
    if (text.find("At Most 1 required") != std::string::npos) return option + ": give it once";
    return text;
}

}  // namespace warpscope
