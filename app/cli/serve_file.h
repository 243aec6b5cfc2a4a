#pragma once

// `serve FILE`: a question about serving, or a project that holds one (store/project/serving_file.h).

namespace orrery::cli {

class Arguments;
class Watch;

/// Simulates it; with `--capacity` searches the highest load under its promises, with `--sweep` answers its sweep.
int serveFile(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
