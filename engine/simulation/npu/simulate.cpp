#include "simulation/npu/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

enum Code : std::uint32_t { EngineFree, InstructionDone, BurstDone };

constexpr double burstCycles = 64;  // a burst holds the memory about so long: the grain in which engines share it
constexpr std::int64_t leastBurst = 256, mostBurst = 64 * 1024;
constexpr SimTime never = std::numeric_limits<SimTime>::max();

std::size_t slot(NpuEngine engine) {
    return static_cast<std::size_t>(engine);
}

}  // namespace

NpuSimulation::NpuSimulation(const NpuMachine& machine, MemoryModel& memory) : machine_(machine), memory_(memory) {
    const double grain = machine.memoryBytes * burstCycles;
    burstBytes_ = std::clamp(static_cast<std::int64_t>(grain), leastBurst, mostBurst);
    const double cyclesPerBurst = static_cast<double>(burstBytes_) / machine.memoryBytes;
    window_ = 2 + static_cast<int>(
                      std::ceil(static_cast<double>(machine.memoryLatency + 2 * machine.portLatency) / cyclesPerBurst));
    window_ = std::min(window_, 4096);
    cores_.resize(static_cast<std::size_t>(machine.cores));
}

void NpuSimulation::begin(const NpuProgram& program) {
    program_ = &program;
    queue_.clear();
    memory_.reset();
    run_ = {};
    const auto& code = program.instructions;
    const std::size_t streams = cores_.size() * npuEngineCount;
    const auto stream = [](const NpuInstruction& i) { return i.core * std::size_t{npuEngineCount} + slot(i.engine); };
    std::vector<std::size_t> first(streams + 1, 0);
    for (const auto& i : code) ++first[stream(i) + 1];
    for (std::size_t s = 0; s < streams; ++s) first[s + 1] += first[s];
    order_.resize(code.size());
    for (std::size_t s = 0; s < streams; ++s) {
        Engine engine;
        engine.begin = engine.head = first[s];
        engine.end = first[s + 1];
        cores_[s / npuEngineCount].engines[s % npuEngineCount] = engine;
    }
    for (std::size_t i = 0; i < code.size(); ++i) order_[first[stream(code[i])]++] = static_cast<std::uint32_t>(i);
    for (Core& core : cores_) core.scratchpad = core.accumulator = 0, core.portFree = 0;
    bursts_.assign(code.size(), 0);
    fillers_.resize(program.buffers.size());
    readers_.resize(program.buffers.size());
    taken_.assign(program.buffers.size(), 0);
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        fillers_[b] = program.buffers[b].fillers;
        readers_[b] = program.buffers[b].readers;
    }
    remaining_ = code.size();
}

Expected<NpuRun> NpuSimulation::run(const NpuProgram& program, const NpuRunOptions& options) {
    options_ = &options;
    begin(program);
    for (std::size_t c = 0; c < cores_.size(); ++c) wake(c);
    while (remaining_ > 0) {
        if ((++run_.events & 0xFFF) == 0 && options.stop.stop_requested()) {
            return fail("study.cancelled", "the simulation was cancelled");
        }
        const SimTime next = queue_.empty() ? never : queue_.next();
        completions_.clear();
        if (memory_.busy() && memory_.advance(next, completions_)) {
            for (const auto& completion : completions_) {
                // The way back through the network is the answer's own: nothing else waits for it.
                queue_.schedule(completion.time + machine_.portLatency, BurstDone, completion.tag);
            }
            continue;
        }
        if (queue_.empty()) {
            return fail("npu.does-not-fit",
                        fmt::format("a core waits for room in a scratchpad of {} bytes that nothing gives back",
                                    machine_.scratchpad),
                        "tiles of which two fit side by side", "use smaller tiles or a larger scratchpad");
        }
        const SimEvent event = queue_.pop();
        switch (event.code) {
            case EngineFree: {
                const auto core = event.subject / npuEngineCount;
                cores_[core].engines[event.subject % npuEngineCount].busy = false;
                wake(core);
                break;
            }
            case InstructionDone:
                done(event.subject);
                wake(program.instructions[event.subject].core);
                break;
            default:
                burstDone(event.subject);
                break;
        }
    }
    run_.cycles = queue_.now();
    return std::move(run_);
}

void NpuSimulation::wake(std::size_t core) {
    while (issueTransfer(core, NpuEngine::Load)) {
    }
    while (issueArray(core)) {
    }
    while (issueVector(core)) {
    }
    while (issueTransfer(core, NpuEngine::Store)) {
    }
}

bool NpuSimulation::readable(const NpuInstruction& instruction) const {
    return std::all_of(instruction.reads.begin(), instruction.reads.end(),
                       [this](BufferId id) { return id == noBuffer || fillers_[static_cast<std::size_t>(id)] == 0; });
}

bool NpuSimulation::take(const NpuInstruction& instruction) {
    std::array<std::int64_t, 2> more{};  // scratchpad, accumulator
    for (const BufferId id : {instruction.fills, instruction.reserves}) {
        if (id == noBuffer || taken_[static_cast<std::size_t>(id)]) continue;
        const NpuBuffer& buffer = program_->buffers[static_cast<std::size_t>(id)];
        more[buffer.accumulator ? 1 : 0] += buffer.bytes;
    }
    Core& core = cores_[instruction.core];
    if (core.scratchpad + more[0] > machine_.scratchpad || core.accumulator + more[1] > machine_.accumulator) {
        return false;
    }
    core.scratchpad += more[0];
    core.accumulator += more[1];
    run_.peakScratchpad = std::max(run_.peakScratchpad, core.scratchpad);
    run_.peakAccumulator = std::max(run_.peakAccumulator, core.accumulator);
    for (const BufferId id : {instruction.fills, instruction.reserves}) {
        if (id != noBuffer) taken_[static_cast<std::size_t>(id)] = 1;
    }
    return true;
}

bool NpuSimulation::issueTransfer(std::size_t c, NpuEngine kind) {
    Core& core = cores_[c];
    Engine& engine = core.engines[slot(kind)];
    if (engine.head == engine.end || engine.outstanding >= window_) return false;
    const std::uint32_t index = order_[engine.head];
    const NpuInstruction& i = program_->instructions[index];
    if (!engine.open) {
        if (!readable(i) || !take(i)) return false;
        engine.open = true;
        engine.left = i.bytes;
        if (engine.active++ == 0) engine.since = queue_.now();
        (kind == NpuEngine::Load ? run_.loaded : run_.stored) += i.bytes;
        if (i.bytes <= 0) {
            engine.open = false;
            ++engine.head;
            queue_.schedule(queue_.now(), InstructionDone, index);
            return true;
        }
    }
    const std::int64_t bytes = std::min(engine.left, burstBytes_);
    SimTime arrival = queue_.now() + machine_.portLatency;
    if (machine_.portBytes > 0) {
        core.portFree = std::max(core.portFree, static_cast<double>(queue_.now())) +
                        static_cast<double>(bytes) / machine_.portBytes;
        arrival = static_cast<SimTime>(std::ceil(core.portFree)) + machine_.portLatency;
    }
    const auto done = static_cast<std::uint64_t>(i.bytes - engine.left);
    memory_.submit({i.address + done, bytes, arrival, index,
                    static_cast<std::uint16_t>(2 * c + (kind == NpuEngine::Store ? 1 : 0)), kind == NpuEngine::Store});
    ++engine.outstanding;
    ++bursts_[index];
    engine.left -= bytes;
    if (engine.left == 0) {
        engine.open = false;
        ++engine.head;
    }
    return true;
}

void NpuSimulation::burstDone(std::uint32_t index) {
    const NpuInstruction& i = program_->instructions[index];
    Engine& engine = cores_[i.core].engines[slot(i.engine)];
    --engine.outstanding;
    const bool submitting = engine.open && order_[engine.head] == index;
    if (--bursts_[index] == 0 && !submitting) done(index);
    wake(i.core);
}

bool NpuSimulation::issueArray(std::size_t c) {
    Engine& engine = cores_[c].engines[slot(NpuEngine::Array)];
    if (engine.busy || engine.head == engine.end) return false;
    const std::uint32_t index = order_[engine.head];
    const NpuInstruction& i = program_->instructions[index];
    if (!readable(i) || !take(i)) return false;
    const SimTime now = queue_.now();
    const SimTime fresh = now + issueCycles + (i.preload ? exposedPreload(machine_) : 0);
    SimTime start = fresh;
    if (engine.finish > now) {
        // The next block's weights are shifted in while the rows of this one pass, if they are there in time.
        const SimTime hidden = engine.lastStart + engine.handover;
        start = now <= engine.lastStart ? hidden : std::min(fresh, std::max(hidden, now + machine_.height));
    }
    engine.lastStart = start + i.cycles;
    engine.handover = i.handover;
    engine.finish = engine.lastStart + i.tail;
    engine.busy = true;
    ++engine.head;
    queue_.schedule(engine.lastStart, EngineFree,
                    static_cast<std::uint32_t>(c * npuEngineCount + slot(NpuEngine::Array)));
    queue_.schedule(engine.finish + retireCycles, InstructionDone, index);
    note(c, NpuEngine::Array, start, engine.lastStart + i.handover);
    return true;
}

bool NpuSimulation::issueVector(std::size_t c) {
    Engine& engine = cores_[c].engines[slot(NpuEngine::Vector)];
    if (engine.busy || engine.head == engine.end) return false;
    const std::uint32_t index = order_[engine.head];
    const NpuInstruction& i = program_->instructions[index];
    if (!readable(i) || !take(i)) return false;
    const SimTime start = queue_.now() + issueCycles;
    const SimTime end = start + i.cycles;
    engine.busy = true;
    ++engine.head;
    queue_.schedule(end, EngineFree, static_cast<std::uint32_t>(c * npuEngineCount + slot(NpuEngine::Vector)));
    queue_.schedule(end + retireCycles, InstructionDone, index);
    note(c, NpuEngine::Vector, start, end);
    return true;
}

void NpuSimulation::done(std::size_t index) {
    const NpuInstruction& i = program_->instructions[index];
    --remaining_;
    if (i.engine == NpuEngine::Load || i.engine == NpuEngine::Store) {
        Engine& engine = cores_[i.core].engines[slot(i.engine)];
        if (--engine.active == 0) note(i.core, i.engine, engine.since, queue_.now());
    }
    const auto release = [this](std::size_t b) {
        const NpuBuffer& buffer = program_->buffers[b];
        Core& core = cores_[buffer.core];
        (buffer.accumulator ? core.accumulator : core.scratchpad) -= buffer.bytes;
    };
    if (i.fills != noBuffer) {
        const auto b = static_cast<std::size_t>(i.fills);
        if (--fillers_[b] == 0 && readers_[b] == 0) release(b);
    }
    for (const BufferId id : i.reads) {
        if (id == noBuffer) continue;
        const auto b = static_cast<std::size_t>(id);
        if (--readers_[b] == 0) release(b);
    }
}

void NpuSimulation::note(std::size_t core, NpuEngine engine, SimTime start, SimTime end) {
    run_.busy[slot(engine)] += end - start;
    if (!options_->spans) return;
    std::size_t& newest = cores_[core].engines[slot(engine)].span;
    const bool full = run_.spans.size() >= options_->spanLimit;
    if (newest > 0 && (full || start <= run_.spans[newest - 1].end)) {
        run_.spans[newest - 1].end = std::max(run_.spans[newest - 1].end, end);
    } else {
        run_.spans.push_back({start, end, static_cast<std::uint16_t>(core), engine});
        newest = run_.spans.size();
    }
}

}  // namespace orrery
