#pragma once

// Searches for tests: a small question and its knobs.

#include "store/project/search_file.h"

#include <string>

namespace orrery::test {

inline std::string searchYaml(const std::string& rest = "objectives: [time, energy]\n",
                              const std::string& method = "roofline") {
    return "orrery: search/1\nname: Small\nhardware: h100-sxm\n"
           "workload: {source: llama-2-7b, phase: decode, batch: 8, sequence: 512}\nmethod: " +
           method +
           "\nknobs:\n  hbm3.bandwidth: {from: 1 TB/s, to: 8 TB/s, steps: 7, scale: log}\n  sm.count: [66, 132, 264]\n"
           "  batch: [1, 8, 64]\n  weights: [fp16, fp8]\n" +
           rest;
}

}  // namespace orrery::test
