#pragma once

#include "simulation/dram/ruled/ruled_run.h"

#include <QtTest/QtTest>

#include <string>

namespace orrery::dramtest {

/// DDR4-3200 with 22-22-22 timing as a fully expanded configuration (JEDEC JESD79-4, speed bin 3200AA; 8 Gbit, 16
/// banks).
inline std::string ddr4Yaml() {
    return R"(frontend: {impl: External, clock_ratio: 1}
memory_system:
  impl: GenericDRAM
  controllers:
    - impl: GenericDDR
      wr_low_watermark: 0.2
      wr_high_watermark: 0.8
      read_buffer_size: 32
      write_buffer_size: 32
      scheduler: {impl: FRFCFS}
      refresh_manager: {impl: AllBank}
      row_policy: {impl: Open}
      addr_mapper: {impl: RoBaRaCoCh}
      controller_plugins:
        - impl: CommandCounter
          commands_to_count: [ACT, PREpb, PREab, RD, WR, RDA, WRA, REFab]
      dram:
        impl: DDR4
        org:
          dq: 8
          count: [1, 1, 4, 4, 65536, 1024]
        timing: [3200, 4, 22, 22, 22, 52, 74, 24, 12, 16, 4, 8, 4, 8, 4, 12, 34, 576, 12480, 2, 625]
        channel_width: 64
        read_latency: 26
        timing_constraints:
          - [0, [3], [3], 4]
          - [0, [4], [4], 4]
          - [1, [3], [4], 12]
          - [1, [4], [3], 24]
          - [1, [3], [3, 4], 6, 1, true]
          - [1, [3], [2], 12]
          - [1, [4], [2], 44]
          - [1, [0], [0], 4]
          - [1, [0], [0], 34, 4]
          - [1, [0], [2], 52]
          - [1, [2], [0], 22]
          - [1, [0], [7], 74]
          - [1, [1, 2], [7], 22]
          - [1, [7], [0, 2], 576]
          - [2, [3], [3], 8]
          - [2, [4], [4], 8]
          - [2, [4], [3], 32]
          - [2, [0], [0], 8]
          - [3, [0], [0], 74]
          - [3, [0], [3, 4], 22]
          - [3, [0], [1], 52]
          - [3, [1], [0], 22]
          - [3, [3], [1], 12]
          - [3, [4], [1], 44]
)";
}

/// A channel in the shape of HBM3: pseudo-channels, stacks, half clocks, refresh bank by bank. Round timings of no
/// device.
inline std::string halfClockYaml() {
    return R"(memory_system:
  controllers:
    - impl: HBM34
      addr_mapper: {impl: RoBaRaCoCh}
      controller_plugins:
        - impl: CommandCounter
          commands_to_count: [ACT, PREpb, PREab, RD, WR, REFab, REFpb]
      dram:
        impl: HBM3
        org:
          count: [1, 2, 2, 4, 4, 8192, 256]
        timing: [6400, 4, 36, 48, 24, 40, 70, 110, 50, 14, 16, 4, 8, 6, 6, 8, 12, 18, 34, 40, 4, 500, 300, 500, 300, 16, 7040, 220, 312]
        channel_width: 32
        read_latency: 40
        timing_constraints:
          - [0, [0], [0, 1, 2, 5, 6], 3]
          - [0, [3, 4], [3, 4], 2]
          - [1, [3], [3], 4]
          - [1, [4], [4], 4]
          - [1, [3], [4], 34]
          - [1, [4], [3], 32]
          - [1, [0], [0], 6]
          - [1, [0], [0], 40, 4]
          - [1, [1, 2], [1, 2], 4]
          - [1, [6], [6], 16]
          - [1, [6], [0], 14]
          - [1, [0], [6], 10]
          - [2, [3], [3], 6, 1, true]
          - [3, [3], [3], 8]
          - [3, [4], [4], 8]
          - [3, [4], [3], 38]
          - [3, [0], [0], 8]
          - [4, [0], [0], 110]
          - [4, [0], [3], 48]
          - [4, [0], [4], 24]
          - [4, [0], [1], 70]
          - [4, [1], [0], 40]
          - [4, [3], [1], 14]
          - [4, [4], [1], 70]
          - [4, [6], [0], 300]
          - [4, [0], [6], 112]
          - [4, [1], [6], 40]
)";
}

/// A channel in the shape of LPDDR5 with two ranks: activates in two parts, a data clock to be started. Round timings
/// of no device.
inline std::string writeClockYaml() {
    return R"(memory_system:
  controllers:
    - impl: LPDDR5
      addr_mapper: {impl: RoBaRaCoCh}
      controller_plugins:
        - impl: CommandCounter
          commands_to_count: [ACT1, ACT2, PREpb, PREab, CAS_RD, CAS_WR, RD, WR, REFab]
      dram:
        impl: LPDDR5
        org:
          count: [1, 2, 4, 4, 32768, 1024]
        timing: [6400, 2, 4, 14, 12, 13, 15, 30, 43, 24, 6, 8, 2, 2, 4, 2, 4, 4, 4, 5, 10, 18, 140, 80, 3000, 375, 3, 0, 6, 2, 1250, 60, 5]
        channel_width: 16
        read_latency: 16
        timing_constraints:
          - [0, [6], [6], 2]
          - [0, [7], [7], 2]
          - [1, [6], [7], 10]
          - [1, [7], [6], 15]
          - [1, [6], [6, 7], 4, 1, true]
          - [1, [7], [6], 8, 1, true]
          - [1, [6], [3], 6]
          - [1, [7], [3], 34]
          - [1, [0], [0], 4]
          - [1, [0], [0], 18, 4]
          - [1, [0], [3], 30]
          - [1, [3], [0], 15]
          - [1, [2, 3], [2, 3], 2]
          - [1, [0], [8], 43]
          - [1, [2, 3], [8], 13]
          - [1, [8], [0, 3, 8], 140]
          - [2, [6], [6], 4]
          - [2, [7], [7], 4]
          - [2, [7], [6], 20]
          - [2, [0], [0], 4]
          - [3, [0], [0], 43]
          - [3, [0], [6, 7], 12]
          - [3, [0], [2], 30]
          - [3, [2], [0], 13]
          - [3, [6], [2], 6]
          - [3, [7], [2], 34]
)";
}

inline DramRules rulesOf(const std::string& yaml) {
    auto rules = readDramRules(std::string_view(yaml), std::string("test.yaml"));
    if (!rules) qFatal("%s", toText(rules.error()).c_str());
    return std::move(*rules);
}

inline RuledResult runOf(const DramRules& rules, const std::vector<DramTraceRequest>& trace, bool refresh,
                         const char* mapping = "RoBaRaCoCh", const char* injection = "asap") {
    const auto map = RuledAddressMap::make(rules, mapping);
    if (!map) qFatal("%s", toText(map.error()).c_str());
    auto result = runRuledDram(rules, *map, refresh, *RuledInjection::parse(injection), trace);
    if (!result) qFatal("%s", toText(result.error()).c_str());
    return std::move(*result);
}

}  // namespace orrery::dramtest
