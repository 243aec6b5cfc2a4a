#pragma once

// What was told of a device from a few samples, as a file: ask it again without the tables that it came from. JSON
// (`orrery-device`, resources/schema/device.schema.json), plain numbers; a device that is read answers as the one
// written.

#include "base/diagnostic.h"
#include "learning/edge/graph_features.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct NamedLatency {
    std::string network;
    Predicted predicted;  ///< ms
};

struct DeviceFile {
    std::string device;        ///< as its table or its owner names it
    std::string table;         ///< that was learned from: file's name
    std::string space, input;  ///< of the codes, as EdgeTable has them; empty space: networks by name
    std::size_t samples = 0, knownDevices = 0;
    std::optional<DeviceModel> model;     ///< ms, of networks with a code
    std::optional<GraphFeatures> graphs;  ///< what the model is asked about, instead of counts
    std::vector<NamedLatency> named;      ///< of networks by name

    /// A network by its code (with its space in front or without) or by name; ms. Where operators are read, whatever
    /// loadWorkload takes. Fails with `edge.other-network`, and as loadWorkload.
    Expected<Predicted> tell(std::string_view network) const;
    /// Above 1: outside of the networks seen, as DeviceModel::outside(); 0 by name.
    double outside(std::string_view network) const;
    /// Of a workload by its source: the code, or the name of its file; where operators are read, itself.
    Expected<Predicted> tell(const Workload& workload) const;
    double outside(const Workload& workload) const;
};

std::string writeDeviceFile(const DeviceFile& file);
/// Fails with `edge.device-file`, naming the member, and as reading JSON does.
Expected<DeviceFile> readDeviceFile(const std::string& path);

}  // namespace orrery
