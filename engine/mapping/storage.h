#pragma once

// Where it is computed: a chain of storage levels over one level of arithmetic units, each level replicated over a
// mesh. Levels are numbered from the innermost (0, beside the arithmetic) to the outermost (DRAM).

#include "base/quantity.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace orrery {

/// Energy per action of one component, in joules; a vector is one access of `blockSize` words.
struct ActionEnergies {
    double vectorRead = 0, vectorWrite = 0;  ///< a write is a fill
    double vectorUpdate = 0;
    double gatedRead = 0, gatedWrite = 0, skippedRead = 0, skippedWrite = 0;
    double metadataRead = 0, metadataWrite = 0, gatedMetadataRead = 0, gatedMetadataWrite = 0;
    double skippedMetadataRead = 0, skippedMetadataWrite = 0;
    double decompression = 0, compression = 0;  ///< of one word
    double leakPerCycle = 0;                    ///< of one instance; told, not part of a mapping's energy
    std::string source;                         ///< `ratio table (Eyeriss, ISCA 2016)`, `ERT.yaml`
};

struct NestLevel {
    std::string name;
    std::int64_t instances = 1, meshX = 1;  ///< meshY = instances / meshX
    std::int64_t wordBits = 16, blockSize = 1, clusterSize = 1;
    double capacityWords = std::numeric_limits<double>::infinity();  ///< of one instance
    double metadataCapacityBits = std::numeric_limits<double>::infinity();
    double metadataWidthBits = 0;  ///< of one access to metadata; 0 where there is none
    double metadataWordBits = 0;
    bool compressionSupported = false, decompressionSupported = false;
    double readBandwidth = 0, writeBandwidth = 0, sharedBandwidth = 0;  ///< words per cycle and instance; 0: unlimited
    double multipleBuffering = 1;                                       ///< 2 halves the capacity that a tile may take
    double minUtilisation = 0;
    double networkLatency = 0;  ///< cycles to fill and drain the network below this level
    bool dram = false;
    ActionEnergies energy;
    double area = 0;  ///< mm² of one instance; 0 where not known
};

struct NestArithmetic {
    std::string name = "MAC";
    std::int64_t instances = 1, meshX = 1;
    std::int64_t wordBits = 16;
    double energy = 0, gatedEnergy = 0, skippedEnergy = 0;  ///< joules of one operation
    double area = 0;
};

struct NestHardware {
    std::string name;
    NestArithmetic arithmetic;
    std::vector<NestLevel> levels;  ///< innermost first; never empty
    Hertz clock;                    ///< 0 where only cycles are asked for
};

}  // namespace orrery
