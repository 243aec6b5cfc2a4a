#pragma once

// Small machines made by hand, and programs run on them.

#include "simulation/npu/kernel_plan.h"
#include "simulation/npu/simulate.h"

#include <QtTest/QtTest>

#include <fstream>
#include <string>
#include <vector>

namespace orrery::npu_fixture {

/// Gemmini of ONNXim's validation: 8 x 8, 64 KB, 16 KB, a bus of 16 bytes per cycle.
inline NpuMachine gemmini() {
    NpuMachine m;
    m.height = m.width = 8;
    m.scratchpad = 64 * 1024;
    m.accumulator = 16 * 1024;
    m.memoryBytes = 16;
    m.memoryLatency = 100;
    m.word = 16;
    return m;
}

/// One scratchpad, two arrays of 16 x 16, no padding: bytes can be counted on paper.
inline NpuMachine small() {
    NpuMachine m;
    m.height = m.width = 16;
    m.arrays = 2;
    m.scratchpad = 256 * 1024;
    m.vectorOps = 64;
    m.memoryBytes = 32;
    m.memoryLatency = 50;
    return m;
}

inline Expected<NpuRun> simulate(const NpuProgram& program, const NpuMachine& machine, bool spans = false) {
    const auto memory = pipeMemory(machine.memoryBytes, machine.memoryLatency);
    NpuSimulation simulation(machine, *memory);
    return simulation.run(program, {spans, 4096, {}});
}

inline NpuRun simulate(const KernelWork& work, const NpuMachine& machine) {
    NpuProgram program;
    if (auto ok = lower(work, machine, program); !ok) qFatal("%s", toText(ok.error()).c_str());
    auto run = simulate(program, machine);
    if (!run) qFatal("%s", toText(run.error()).c_str());
    return std::move(*run);
}

/// Rows of a CSV file with quoted fields, without its header; empty if there is no such file.
inline std::vector<std::vector<std::string>> rowsOf(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::vector<std::string>> rows;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::vector<std::string> row(1);
        bool quoted = false;
        for (const char c : line) {
            if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                row.emplace_back();
            } else if (c != '\r') {
                row.back() += c;
            }
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace orrery::npu_fixture
