#pragma once

// Tables of measured networks as benchmarks publish them: networks × targets. One row per network with a column per
// device, or one row per measurement with the device in columns of its own.

#include "base/diagnostic.h"
#include "learning/edge/device_prior.h"
#include "learning/edge/network_graph.h"

#include <span>
#include <string>
#include <vector>

namespace orrery {

struct EdgeTable {
    std::string path;
    std::string space;                  ///< of the codes (`learning/edge/space_features.h`); empty: networks by name
    std::string input;                  ///< what stands before the codes: `nasbench201@1x52x16`; empty: nothing
    std::vector<std::string> networks;  ///< code or name, one per row
    std::vector<double> index;          ///< the table's own number of a row, its place where it has none
    std::vector<std::string> targets;   ///< devices, or what was measured on them
    std::vector<std::vector<double>> values;  ///< targets × rows, NaN where not measured
    std::vector<std::string> described;       ///< of each target, its name and what columns say of it
    std::vector<std::string> groups;          ///< of each target, the whole device that it is a part of; empty: itself
    std::vector<std::string> facts;           ///< what is known of networks beside their name: work, weights, …
    std::vector<std::vector<double>> shapes;  ///< networks × those (`network_facts.h`, `topologies.h`); empty: none
    std::vector<NetworkGraph> graphs;  ///< networks by name, operator by operator, of no nodes where unknown; or empty
    std::size_t besides = 0;           ///< the last so many targets are of other tables: known, never asked
    Diagnostics notes;

    const std::string& describedAs(std::size_t target) const;  ///< its name where nothing more is said
    std::size_t target(std::string_view name) const;           ///< its place, targets.size() if none
};

struct EdgeColumns {
    std::string network;               ///< empty: `arch`, `cell`, `network`, `model_name`, `model`, whichever is there
    std::vector<std::string> with;     ///< columns that make another network of it: input size, batch
    std::vector<std::string> devices;  ///< columns that name the device; empty: a column per device
    std::vector<std::string> values;   ///< of measurements, where devices are rows; of several each is a target
    std::vector<std::string>
        facts;          ///< columns of what a network is made of (operations, weights); of those that are there
    std::string whole;  ///< a column: what has one value of it is one device (runs of one board)
    std::vector<std::string> only, without;  ///< words of networks' names: rows with one, rows with none of them
    bool rates = false;                      ///< values are per second: their inverse in ms is taken
    std::string half;                        ///< of HAT: `encoder`, `decoder` (if left out)
};

/// Columns of numbers that no word of their name tells as an index, spread or feature are targets; the others are
/// noted. Columns of one run, told apart by a unit alone (`pi5_ms`, `pi5_mj`), are one group. Several measurements of
/// one network on one device are taken by their median. Codes `reference.unreadable`, `edge.no-column`,
/// `edge.bad-number`, `edge.bad-network` (with the code's own complaint; networks of several inputs too),
/// `edge.no-targets`, `edge.empty`, `edge.device-column` (a column `device`, and nobody says which one holds the
/// measurement), `edge.whole`. Columns without two different values are noted and left out.
Expected<EdgeTable> readEdgeTable(const std::string& path, const EdgeColumns& columns = {});

/// Of the rows chosen; empty: of all. The table must have a space.
Expected<FeatureRows> edgeFeatures(const EdgeTable& table, std::span<const std::size_t> rows = {});
std::vector<std::size_t> analyticColumns(const EdgeTable& table);

}  // namespace orrery
