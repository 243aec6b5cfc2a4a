#pragma once

// Another program as a method: a file `presets/adapters/*.yaml` says what it needs, how its inputs are written from the
// question, which command is run (a list of arguments, never a shell) and how its answer is read.
//
//     orrery: adapter/1
//     title: SCALE-Sim                    # also summary, methodology, lineage, needs, fails, platforms, tried
//     level: kernel                       # asked kernel by kernel; or `model`, `system`: asked once
//     tasks: [pass]                       # of a model or system
//     takes: [gemm, convolution]          # of kernels; others stand at their roofline
//     asks: [array]                       # views of the design that it needs: array, cpu, gpu
//     program: {find: [scalesim], variable: ORRERY_SCALESIM, install: …,
//               version: {arguments: [--version], pattern: '([0-9.]+)'}}
//     let: {tiles: (m + 15) // 16}        # names for arithmetic over values, in order
//     inputs:
//       - {file: layers.csv, text: "…${m}…"}     # `${…}`: a value or arithmetic over values (values.h lists them)
//       - {file: problem.yaml, writer: timeloop}
//     command: ["${program}", "-c", "run.cfg"]   # or `commands: [[…], […]]`, one after the other
//     read:                               # numbers by name, from `file` (standard output unless told)
//       cycles: {file: "out/*/REPORT.csv", column: Total Cycles, where: {M: m, type: "${dtype}"}, row: only}
//       energy: {regex: 'Energy: ([0-9.]+) uJ'}
//       total: {file: result.json, pointer: /network/time}
//     time: {value: cycles, unit: cycles}
//     energy: {value: energy, unit: uJ}
//     figures: {Requests a second: {value: rate, unit: 1/s}}

#include "base/quantity.h"
#include "base/text/expression.h"
#include "methods/method.h"
#include "workload/kernel.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Text with `${…}` in it, and where it stands in the adapter's file.
struct AdapterText {
    std::string text;
    int line = 0;
};

struct AdapterInput {
    std::string file;    ///< in the run's folder; no way out of it
    AdapterText text;    ///< or
    std::string writer;  ///< one of adapterWriters()
};

struct NamedExpression {
    std::string name;
    Expression value;
    int line = 0;
};

enum class AdapterRow : std::uint8_t { Only, First, Last, Sum, Mean, Most };

/// A number of the program's output.
struct AdapterRead {
    std::string name;
    std::string file;  ///< in the run's folder, `*` for any letters of one part; empty: standard output; `stderr`
    std::string regex, column, pointer;                          ///< one of them
    std::vector<NamedExpression> where;                          ///< columns that must have these values
    std::vector<std::pair<std::string, AdapterText>> whereText;  ///< columns that must say these words
    AdapterRow row = AdapterRow::Only;
    std::optional<double> absent;  ///< stands where the file has no such number; none: that is an error
    int line = 0;
};

struct AdapterQuantity {
    std::string label;
    Expression value;  ///< over what was read and the values of the question
    std::string unit;
    double scale = 1;  ///< to SI
    bool cycles = false;
    Dimension dimension = Dimension::Number;
    int line = 0;
};

struct AdapterProgram {
    std::vector<std::string> find;  ///< names in the search path; with a `/`: from the adapter's folder
    std::string variable;           ///< of the environment: the program's path
    std::string install;            ///< where it comes from, one sentence
    std::vector<AdapterText> versionArguments;
    std::string versionPattern;  ///< its first group is the version; a program that does not show it is not found
    bool recordedOnly = false;   ///< its inputs do not follow from a drawing: only recorded output is read
};

struct Adapter {
    std::string id, file, folder;
    std::string title, summary, fails, tried;
    std::string version;  ///< of the file: a hash of it
    Methodology methodology = Methodology::Analytical;
    MethodLevel level = MethodLevel::Kernel;
    std::vector<std::string> platforms, needs, lineage;
    std::vector<TaskKind> tasks;
    std::vector<KernelKind> takes;
    bool array = false;    ///< needs a view of an array
    std::string platform;  ///< of the device: `cpu`, `gpu`; empty: any
    AdapterProgram program;
    std::vector<NamedExpression> let;
    std::vector<AdapterInput> inputs;
    std::vector<std::vector<AdapterText>> commands;
    double mostSeconds = 600;
    std::vector<AdapterRead> reads;
    AdapterQuantity time;
    std::optional<AdapterQuantity> energy;
    std::vector<AdapterQuantity> figures;
    double secondsEach = 1;  ///< that a run is expected to take, for cards

    Place place(int line) const { return {file, line, 0, {}}; }
};
using AdapterPtr = std::shared_ptr<const Adapter>;

/// Fails with `adapter.syntax`, `adapter.key`, `adapter.value`, `adapter.version`, with file and line.
Expected<Adapter> readAdapter(const std::string& path);

struct ShippedAdapters {
    std::vector<AdapterPtr> all;  ///< by id
    Diagnostics warnings;         ///< files that cannot be read
};
/// Those of presets/adapters and of the folder that $ORRERY_ADAPTERS names, read once.
const ShippedAdapters& shippedAdapters();
/// By id, or a file that ends in `.yaml` (kept while it stays as it is). Fails with the nearest ids.
Expected<AdapterPtr> findAdapter(std::string_view idOrFile);

/// Whether and which program answers.
struct AdapterFound {
    std::string program;  ///< absolute path; empty: none
    std::string version;  ///< as it says; empty where it is not asked
    std::string why;      ///< nothing was found: one sentence
    bool found() const { return !program.empty(); }
};
/// `program`: a path that stands before what the adapter looks for; may be empty. Runs the program once for its
/// version, and keeps the answer while the program's file stays as it is.
AdapterFound lookFor(const Adapter& adapter, std::string_view program = {});

/// What runs of an adapter took, for an answer.
struct AdapterTally {
    std::int64_t runs = 0, recorded = 0;
    double seconds = 0, peakBytes = 0;
};

}  // namespace orrery
