#pragma once

// A device of one's own: what to measure next, what has been told from what was measured so far, how wrong that is said
// to be and is, and what more samples would buy. Known devices come from a table; the new one needs not be in it.

#include "evaluation/edge/edge_judge.h"
#include "learning/edge/device_file.h"

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

struct OwnSample {
    std::string network;
    double latency = 0;  ///< in the table's unit
};

struct OwnDevice {
    std::string name;                 ///< of a known device too: that one is then not known
    std::vector<OwnSample> measured;  ///< in the order of measuring
};

struct NextMeasurement {
    std::string network;
    double error = 0;  ///< said to be left with it and those before: the middle of |told ÷ measured − 1|
};

struct BringOptions {
    std::size_t next = 8;         ///< so many are listed at most
    std::optional<double> until;  ///< or fewer, where this error is reached
    std::uint64_t seed = 1;
    EdgeModel model = EdgeModel::Additive;  ///< of networks with a code
    /// Networks that are told beside the table's, and no device was measured with: codes of its space; where operators
    /// are read, whatever loadWorkload takes, such as an ONNX file. By name those that the table has (addNetwork).
    std::vector<std::string> tell;
    std::stop_token stop = {};
};

struct BroughtDevice {
    std::vector<EdgePrediction> told;    ///< all networks of the table; `measured` NaN where it was not
    std::vector<EdgePrediction> others;  ///< those of BringOptions::tell
    double error = 0;                    ///< said of those that were not measured; NaN with nothing measured by name
    double width = 0;                    ///< of their intervals: middle of high ÷ low
    std::vector<NextMeasurement> next;
    std::size_t knownDevices = 0;                      ///< 0: a roofline alone
    bool graph() const { return graphs.has_value(); }  ///< it tells unless the simple model does
    bool simple = false;                  ///< the simple model was no worse on what was left out, and tells
    Diagnostics notes;                    ///< samples that could not be used: “network: why”
    std::optional<DeviceModel> model;     ///< of networks with a code
    std::optional<GraphFeatures> graphs;  ///< that the model is asked about, instead of counts
};

/// What is learned of a table's devices but the one of that name, whatever is measured of it: by `seed` and `model` of
/// the options. It may be kept from question to question.
struct OthersKnown;
using OthersKnownPtr = std::shared_ptr<const OthersKnown>;
/// Fails as bringDevice, with `edge.stopped`.
Expected<OthersKnownPtr> learnOthers(const EdgeTable& known, const std::string& device, const BringOptions& options);

/// `others`: learned before of the same table, device's name and options; null: learned now. Fails with
/// `edge.bad-sample`, `edge.few-devices`, `edge.no-networks` where nothing is left to measure,
/// `edge.no-graph` where a graph network is asked about names.
Expected<BroughtDevice> bringDevice(const EdgeTable& known, const OwnDevice& device, const BringOptions& options = {},
                                    const OthersKnownPtr& others = nullptr);

/// As a file that answers by itself (`learning/edge/device_file.h`, the method `edge-device`). Fails with
/// `edge.no-latency` for a side of a run that is no latency (`pi5_mj`), with `edge.no-samples` with nothing told, with
/// `edge.no-file` of a graph network, which no file holds.
Expected<DeviceFile> deviceFileOf(const BroughtDevice& told, const EdgeTable& known, const OwnDevice& device);

/// What was said and what was true after each sample, in the order of measuring; of many, after 24 of them.
struct SampleStep {
    std::size_t samples = 0;
    double said = 0, width = 0;            ///< as BroughtDevice
    double error = 0, rank = 0, held = 0;  ///< of the samples that came later: middle error, Spearman, share inside;
                                           ///< NaN below three of them
};
Expected<std::vector<SampleStep>> sampleSteps(const EdgeTable& known, const OwnDevice& device,
                                              const BringOptions& options = {}, const OthersKnownPtr& others = nullptr);

/// Results as CSV with the columns `network` and `latency` (or `latency_ms`, or the second column). Empty cells were
/// not measured. Fails with `edge.no-column`, `edge.bad-number`.
Expected<std::vector<OwnSample>> readOwnSamples(std::string_view text);
/// The list to be filled in: `network,latency_ms`.
std::string toMeasureAsCsv(std::span<const NextMeasurement> next);

}  // namespace orrery
