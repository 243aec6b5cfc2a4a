#pragma once

// Parts of a device that each have main memory and cores of their own (NUMA nodes: sockets of a server, dies of a
// package), and what joins them.

#include "base/diagnostic.h"
#include "base/quantity.h"
#include "hardware/views/device_ref.h"

#include <cstdint>
#include <string>

namespace orrery {

namespace detail {
class DeviceParts;
}
struct DeviceView;

struct MemoryNodes {
    std::int64_t nodes = 1;
    std::string name;              ///< of such a part; of the device where it is one node
    BytesPerSecond bandwidth;      ///< of the memory of one node
    Seconds latency;               ///< of that memory; 0 where not given
    std::string link;              ///< what is full first between nodes; empty: nothing is drawn
    BytesPerSecond linkBandwidth;  ///< from one node to any other, one way: what each of n (n − 1) ways carries when
                                   ///< all send alike and `link` is full; 0: no rate is given
    Seconds linkLatency;           ///< one way, mean over the ways
    std::string unlike;            ///< why it is taken as one node though several parts have memory; else empty
    std::string memory;            ///< main memory's own name, without the link that a device view adds to it
    std::string inTurn;  ///< among the assumptions of the device's views, the one on pages that lie in turn in
                         ///< all nodes; empty: nothing joins the nodes
};

/// One node for a device whose memory lies beside all of its cores, or in parts that differ.
Expected<MemoryNodes> memoryNodes(const DeviceRef& device);
/// From a view of the same parts; notes what it reads.
Expected<MemoryNodes> memoryNodes(detail::DeviceParts& parts, const DeviceView& view);

}  // namespace orrery
