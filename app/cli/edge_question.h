#pragma once

// A few-shot question over a table of measured networks, as `edge`, `evaluate` and `references` ask it.

#include "app/cli/command.h"
#include "evaluation/edge/edge_judge.h"

#include <optional>
#include <string>

namespace orrery::cli {

/// A whole number from 0 to `most`. Code `usage.value`.
Expected<std::size_t> wholeOption(const Arguments& arguments, std::string_view name, std::size_t otherwise,
                                  std::size_t most);
/// Which columns are what: `--network`, `--with`, `--device`, `--value`, `--whole`, `--only`, `--without`, `--rates`,
/// `--half`.
Expected<EdgeColumns> edgeColumnsOf(const Arguments& arguments);
/// `--target`, `--known`, `--samples`, `--seed`, `--repeats`, `--trim`, `--pool`, `--test`, `--reference`, `--choose`,
/// `--no-prior`.
Expected<EdgeProtocol> edgeProtocolOf(const Arguments& arguments);

/// Figures of each target and of their mean as a table.
std::string edgeText(const EdgeResult& result, const EdgeTable& known, const EdgeProtocol& protocol);
/// As resources/schema/edge.schema.json says; `asked`: the table that was judged, where it is another.
std::string edgeJson(const EdgeResult& result, const EdgeTable& known, const EdgeTable* asked,
                     const EdgeProtocol& protocol);
/// Every judged row of the last repetition.
std::string edgeCsv(const EdgeResult& result);
/// What a table of measured networks holds: targets with their rows and ranges, and its first networks.
std::string edgeTableText(const EdgeTable& table);

}  // namespace orrery::cli
