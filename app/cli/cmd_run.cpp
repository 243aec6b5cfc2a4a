#include "app/cli/answers.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "app/cli/run_fidelity.h"
#include "app/cli/why.h"
#include "learning/calibration.h"
#include "store/export/chakra_folder.h"
#include "store/export/exports.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::cli {

namespace {

// The traces by the first of the methods that can make them.
int exportChakra(const Study& study, const std::string& folder, const CalibrationSet& calibrations,
                 Executor& executor) {
    Diagnostic last;
    for (const std::string& choice : study.methods) {
        const Method* method = findMethod(choice);
        if (!method) continue;
        EstimateContext context{executor};
        context.calibrations = &calibrations;
        if (auto chosen = methodChoice(choice, builtinMethods())) context.options = chosen->options;
        const auto traces = trainingTraces(*method, study.scenarios.front(), context);
        if (!traces) {
            last = traces.error();
            continue;
        }
        const auto written = writeChakraFolder(*traces, "step", folder);
        if (!written) return failed(written.error());
        return print(fmt::format("{} traces by {} in {}: run them with `orrery-cli train --astra {}`\n", *written,
                                 choice, folder, folder))
                   ? Answered
                   : Unanswered;
    }
    return failed(last);
}

int runScenario(const Arguments& arguments, Watch& watch) {
    const auto scenario = readScenario(arguments);
    if (!scenario) return failed(scenario.error());
    const auto methods = readMethodsFor(arguments, scenario->task);
    if (!methods) return failed(methods.error());

    const auto out = arguments.value("out");
    if (out && !makeFolder(*out)) return Unanswered;
    Study study;
    study.scenarios.push_back(*scenario);
    study.name = study.scenarios.front().name();
    study.methods = *methods;
    const auto executor = makeDefaultExecutor();
    CalibrationSet calibrations = shippedCalibrations().set;
    for (const std::string& file : arguments.values("calibration")) {
        auto calibration = readCalibration(file);
        if (!calibration) return failed(calibration.error());
        calibrations.add(std::make_shared<const Calibration>(std::move(*calibration)));
    }
    if (const auto why = arguments.value("why")) {
        return explain(study, std::string(*why), calibrations, std::string(arguments.value("json").value_or("")));
    }
    if (const auto folder = arguments.value("chakra")) return exportChakra(study, *folder, calibrations, *executor);
    if (asksForFidelity(arguments)) {
        const bool named = arguments.has("method");
        return runFidelity(arguments, *scenario, named ? *methods : std::vector<std::string>{}, calibrations, watch);
    }
    StudyOptions options;
    options.calibrations = &calibrations;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    watch.begin("predicting");
    const auto results = runStudy(study, options);
    watch.end();

    reportFailures(results, arguments.has("method"));
    reportWarnings(results, scenario->workload->warnings);
    const auto json = arguments.value("json");
    bool written = true;
    if (json != "-") written = print(answersText(study, results));
    if (json) written = writeTo(*json, runJson(study, results)) && written;
    if (out) written = writeReportFolder(*out, study, results) && written;
    if (watch.interrupted()) report(fail("run.interrupted", "interrupted; what was finished is above").value());
    return written && anyAnswer(results) && !watch.interrupted() ? Answered : Unanswered;
}

std::vector<Option> options() {
    std::vector<Option> all{
        {"hardware", "H", "a device of the catalogue (id or name) or a hardware file"},
        {"workload", "W", "a built-in model, an ONNX file, a Hugging Face config.json, or a workload YAML"},
        {"set", "PATH=VALUE", "change an attribute of the hardware, as in hbm3.bandwidth='4 TB/s'", true},
        {"calibration", "FILE", "what learned methods answer with, before what ships", true},
        {"method", "ID,…", "which methods answer, each `id` or `id(key=value,…)`; without it all do", true},
    };
    all.insert(all.end(), scenarioOptions().begin(), scenarioOptions().end());
    all.insert(all.end(), workloadOptions().begin(), workloadOptions().end());
    all.push_back({"out", "DIR", "leave report.html, estimates.csv, run.json, and per method operators and trace"});
    all.push_back(
        {"why", "OPERATOR", "instead: the kernels that this operator is launched as, and what makes their prices"});
    all.push_back(
        {"chakra", "DIR", "instead: a training step of a plan as Chakra traces of every rank, a folder for ASTRA-sim"});
    for (const Option& option : fidelityOptions()) all.push_back(option);
    all.push_back(
        {"json", "[FILE]", "the answers as JSON (resources/schema/run.schema.json); standard output if left out"});
    return all;
}

}  // namespace

const Command runCommand{
    .name = "run",
    .summary = "ask one question of many methods: one workload on one hardware",
    .details = "",
    .options = options(),
    .required = {},
    .examples =
        {{"orrery-cli run --hardware h100-sxm --workload resnet-50 --batch 64", "how long, by every method?"},
         {"orrery-cli run --hardware a100-80-sxm --workload llama-2-7b --phase decode --seq 2048 --out report",
          "one decode step, with a report to read or print"},
         {"orrery-cli run --hardware h100-sxm --workload llama-2-7b --set hbm3.bandwidth='4 TB/s' --json -",
          "what would faster memory bring? the answer as JSON"},
         {"orrery-cli run --hardware tpu-v3 --workload net.onnx --method 'roofline,loop-nest(chains=on)'",
          "a method with options; `orrery-cli methods loop-nest` lists them"},
         {"orrery-cli run --hardware a100-80-sxm --workload gpt-3-175b --what-if '{retype: MatMul, type: int8}'",
          "and if all matrix products were int8?"},
         {"orrery-cli run --hardware dgx-h100 --workload llama-3-70b --phase decode --plan tp=8",
          "the same model over the eight GPUs of a node"},
         {"orrery-cli run --hardware dgx-h100 --workload llama-3-8b --batch 8 --plan dp=8 --task training-step",
          "one training step, gradients reduced over the drawn links"},
         {"orrery-cli run --task presets/examples/vllm-against-sarathi.yaml --method serving,tile-wave",
          "a serving run by two methods"},
         {"orrery-cli run --hardware h100-sxm --workload llama-2-7b --phase decode --ladder",
          "from fast to slow, until the estimate settles"},
         {"orrery-cli run --hardware gemmini-like --workload resnet-50 --to 5%", "no more simulation than ±5 % takes"},
         {"orrery-cli run --hardware h100-sxm --workload llama-2-7b --method tile-wave --why o_proj",
          "why does this operator take so long?"}},
    .run = runScenario,
};

}  // namespace orrery::cli
