#pragma once

namespace orrery::cli {

/// Every key of a serving file, as a table; as the JSON Schema of the file with `json`.
int serveKeys(bool json);

}  // namespace orrery::cli
