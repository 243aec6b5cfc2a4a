#pragma once

// A processor and the accelerators that it feeds: what memory they share, what is drawn between them, and the
// scratchpads that tiles must fit. Nothing is taken where nothing is drawn.

#include "base/diagnostic.h"
#include "base/quantity.h"
#include "hardware/component.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/parts_read.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// One way of data into an accelerator and out of it.
struct SocWay {
    std::string name;      ///< of the link; of the memory, where its bus is the way
    BytesPerSecond rate;   ///< of one direction of a link; of a bus, of both together
    Seconds latency;       ///< of one transfer; 0 where not given
    JoulesPerByte energy;  ///< of the link; 0 where not given
    PartsRead used;        ///< the links
};

struct SocBuffer {
    std::string name;
    Bytes capacity;           ///< of one accelerator
    JoulesPerByte energy;     ///< 0 where not given
    std::uint32_t keeps = 0;  ///< keepsInputs | … of spatial_array_view.h; 0: all of them
};

struct SocView {
    DeviceRef processor, accelerator;
    std::string processorName, acceleratorName;
    std::int64_t accelerators = 1;                 ///< that are alike, to one processor
    std::int64_t inputLanes = 1, outputLanes = 1;  ///< channels that the array takes side by side: rows and columns
    bool vectors = false;                          ///< a vector unit is drawn inside the accelerator
    Hertz clock;                                   ///< of the array
    Joules macEnergy;                              ///< of one multiply-accumulate; 0 where not given
    std::vector<SocBuffer> buffers;                ///< outermost on the chip that keep an operand; not empty

    std::string memoryName;  ///< that the processor works on
    BytesPerSecond memoryBandwidth;
    JoulesPerByte memoryEnergy;     ///< 0 where not given
    JoulesPerFlop operationEnergy;  ///< of the processor; 0 where not given
    bool shared = false;            ///< the accelerator works on it too
    std::string cacheName;          ///< last cache of the processor; empty: none
    Bytes cache;
    BytesPerSecond cacheBandwidth;  ///< 0 where not given: limits nothing
    Bytes line;                     ///< of the processor's caches

    std::optional<SocWay> direct;    ///< to the memory, past the caches: over a link to it, else its own bus where it
                                     ///< is shared, else over a link to the processor whose memory it is
    std::optional<SocWay> coherent;  ///< over a link to the processor, through its last cache

    std::vector<std::string> assumptions;
    PartsRead used;  ///< of the design, but for the ways
};

/// Of a device of `platform: cpu` and the first kind of device with an array beside it. Fails with
/// `method.not-applicable` for another device and where there is no array, with `soc.no-way` where nothing joins the
/// two, with `soc.no-scratchpad` where the array has no buffer, and as the views of both do.
Expected<SocView> socView(const DeviceRef& processor);
/// Of the first device that is a processor.
Expected<SocView> socView(const Hardware& hardware);

}  // namespace orrery
