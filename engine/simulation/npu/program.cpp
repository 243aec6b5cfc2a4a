#include "simulation/npu/program.h"

namespace orrery {

BufferId NpuProgram::buffer(std::int64_t core, std::int64_t bytes, bool accumulator) {
    buffers.push_back({bytes, static_cast<std::uint16_t>(core), accumulator, 0, 0});
    return static_cast<BufferId>(buffers.size() - 1);
}

void NpuProgram::fill(BufferId id) {
    if (id != noBuffer) ++buffers[static_cast<std::size_t>(id)].fillers;
}

void NpuProgram::read(BufferId id) {
    if (id != noBuffer) ++buffers[static_cast<std::size_t>(id)].readers;
}

void NpuProgram::load(std::int64_t core, BufferId into, std::int64_t bytes, std::uint64_t address, BufferId reserves) {
    NpuInstruction i;
    i.engine = NpuEngine::Load;
    i.core = static_cast<std::uint16_t>(core);
    i.fills = into;
    i.reserves = reserves;
    i.bytes = bytes;
    i.address = address;
    instructions.push_back(i);
    fill(into);
}

void NpuProgram::store(std::int64_t core, BufferId from, std::int64_t bytes, std::uint64_t address, BufferId also) {
    NpuInstruction i;
    i.engine = NpuEngine::Store;
    i.core = static_cast<std::uint16_t>(core);
    i.reads = {from, also, noBuffer};
    i.bytes = bytes;
    i.address = address;
    instructions.push_back(i);
    read(from);
    read(also);
}

void NpuProgram::gemm(std::int64_t core, const BlockTiming& timing, BufferId rows, BufferId weights, BufferId into,
                      BufferId also) {
    NpuInstruction i;
    i.engine = NpuEngine::Array;
    i.preload = true;
    i.core = static_cast<std::uint16_t>(core);
    i.fills = into;
    i.reads = {rows, weights, also};
    i.cycles = timing.span;
    i.handover = timing.handover;
    i.tail = timing.tail;
    instructions.push_back(i);
    fill(into);
    read(rows);
    read(weights);
    read(also);
}

void NpuProgram::vector(std::int64_t core, std::int64_t cycles, BufferId from, BufferId into, BufferId also) {
    NpuInstruction i;
    i.engine = NpuEngine::Vector;
    i.core = static_cast<std::uint16_t>(core);
    i.fills = into;
    i.reads = {from, also, noBuffer};
    i.cycles = cycles;
    instructions.push_back(i);
    fill(into);
    read(from);
    read(also);
}

void NpuProgram::clear() {
    instructions.clear();
    buffers.clear();
}

}  // namespace orrery
