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
