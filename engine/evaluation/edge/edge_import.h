#pragma once

// Which columns of a published table name networks and devices: descriptions in `presets/references/edge`, found by the
// columns that a file has.

#include "evaluation/edge/edge_table.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct EdgeDescription {
    std::string id, name, note;
    std::vector<std::string> match;  ///< columns that a file must have
    EdgeColumns columns;
    std::string beside;  ///< a file of facts of such networks (`network_facts.h`), beside the description
};

/// `orrery: edge-import/1`. Fails with `edge.description`, file and line.
Expected<EdgeDescription> readEdgeDescription(const std::string& file);
/// Of the folder beside the other references, by name; what cannot be read is left out.
std::vector<EdgeDescription> shippedEdgeDescriptions();
/// The description with most columns, all of which the file has; null if none.
const EdgeDescription* descriptionFor(std::span<const EdgeDescription> all, std::span<const std::string> header);

/// Whether a file is a table of measured networks: a CSV that a description fits, or whose columns name networks by
/// code or name (`arch`, `cell`, `network`, `model_name`, HAT's choices). Looks at the first line alone.
bool isEdgeTable(const std::string& path);

/// Reads a table by its description; columns that are given win.
Expected<EdgeTable> openEdgeTable(const std::string& path, EdgeColumns columns = {});

}  // namespace orrery
