#pragma once

// One run of an adapter: inputs written into a folder of its own, the command, its output read.

#include "base/child_program.h"
#include "methods/adapter/adapter.h"
#include "methods/adapter/adapter_values.h"

#include <functional>
#include <stop_token>

namespace orrery {

/// What an adapter's options say.
struct AdapterUse {
    std::string program;   ///< path of the program that was found
    std::string recorded;  ///< a folder of earlier output, instead of running
    std::string keep;      ///< a folder in which runs stay; empty: they are removed
    double mostSeconds = 600;
};

struct AdapterAnswer {
    double seconds = 0;
    std::optional<double> joules;
    std::vector<Figure> figures;
    ProgramRun run;         ///< of all commands together
    bool recorded = false;  ///< read, not run
};

/// Writes one of adapterWriters() into a folder: what it makes depends on the kernel or the question.
using AdapterWriter = std::function<Expected<void>(const AdapterInput& input, const std::string& folder)>;

/// `name`: of the run's folder. Nothing where the recorded output has none for this run. Fails with `adapter.failed`
/// (exit status, with the end of what the program said), `adapter.output` (file and line of what is wrong),
/// `adapter.unwritable`, and as runProgram() does.
Expected<std::optional<AdapterAnswer>> runAdapter(const Adapter& adapter, const AdapterUse& use, AdapterValues values,
                                                  const std::string& name, const AdapterWriter& writer,
                                                  const std::stop_token& stop);

/// Only the inputs, into `folder`/`name`, and the command as a file `command.txt`, to be run elsewhere.
Expected<void> writeInputs(const Adapter& adapter, AdapterValues values, const std::string& folder,
                           const std::string& name, const AdapterWriter& writer);

}  // namespace orrery
